/** `kind: Tool` — functions that a model may call. */
import { z } from 'zod';
import { config, count, entry, jsonSchema, resource, text } from './fields.ts';

const toolExport = z.strictObject({
  name: text.describe(
    'Lower-case letters, digits, `-` and single `_`. The model knows it as `{resource}__{export}`, at most 64 characters.',
  ),
  description: z.string().describe('A description for the model.'),
  parameters: jsonSchema.optional().describe('JSON Schema of its arguments; none when absent.'),
  parallel: z
    .boolean()
    .optional()
    .meta({ description: 'Whether it may run at the same time as other calls of the step.', default: false }),
  idempotent: z
    .boolean()
    .optional()
    .meta({ description: 'Whether it may run again after a crash left its outcome unknown.', default: false }),
  effects: z
    .enum(['none', 'local', 'external'])
    .optional()
    .describe('The reach of its effects: none, this machine, or the outside world.'),
});

export const tool = resource(
  'Tool',
  'A module with functions for a model to call.',
  z.strictObject({
    entry,
    exports: z
      .array(toolExport)
      .min(1)
      .optional()
      .describe(
        'The tools it offers; `handlers` of the module has a function for each. Absent: each export of the module that is ' +
          'made with `defineTool` is a tool.',
      ),
    config: config.optional(),
    configSchema: jsonSchema.optional().describe('JSON Schema of the config.'),
    errorMessageLimit: count(1)
      .optional()
      .describe(
        'The most characters of its errors that the model reads; `policy.errorMessageLimit` of the agent when ' +
          'absent.',
      ),
  }),
);
