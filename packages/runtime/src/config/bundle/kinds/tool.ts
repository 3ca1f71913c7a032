/** `kind: Tool` — what a model may call. */
import { z } from 'zod';
import { config, count, entry, jsonSchema, resource, text } from './fields.ts';

const toolExport = z.strictObject({
  name: text.describe(
    'Lower-case letters, digits, `-` and single `_`. The model knows it as `{resource}__{export}`, at most 64 characters.',
  ),
  description: z.string().describe('What it does, for the model.'),
  parameters: jsonSchema.optional().describe('JSON Schema of its arguments; none when absent.'),
  parallel: z
    .boolean()
    .optional()
    .meta({ description: 'May run beside other calls of the same step.', default: false }),
  idempotent: z
    .boolean()
    .optional()
    .meta({ description: 'May be run again when a crash left its outcome unknown.', default: false }),
  effects: z
    .enum(['none', 'local', 'external'])
    .optional()
    .describe('How far its effects reach: it only looks, it changes this machine, it changes something elsewhere.'),
});

export const tool = resource(
  'Tool',
  'What a model may call: a module that exports handlers.',
  z.strictObject({
    entry,
    exports: z.array(toolExport).min(1).describe('What it offers; the module has a handler for each.'),
    config: config.optional(),
    configSchema: jsonSchema.optional().describe('JSON Schema of the config.'),
    errorMessageLimit: count(1)
      .optional()
      .describe("Characters of its errors that the model reads; the agent's `policy.errorMessageLimit` when absent."),
  }),
);
