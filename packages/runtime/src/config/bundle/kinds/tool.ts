/** `kind: Tool` — functions that a model may call. */
import { z } from 'zod';
import { config, count, entry, jsonSchema, resource, text } from './fields.ts';

const toolExport = z.strictObject({
  name: text.describe(
    'Lower-case letters, digits, `-` and single `_`. The model sees the tool as `{resource}__{export}`, at most 64 characters.',
  ),
  description: z.string().describe('A description for the model.'),
  parameters: jsonSchema.optional().describe('JSON Schema of the arguments; no arguments when absent.'),
  parallel: z
    .boolean()
    .optional()
    .meta({ description: 'If true, a call may run at the same time as other calls of the step.', default: false }),
  idempotent: z
    .boolean()
    .optional()
    .meta({ description: 'If true, a call may be repeated after a crash left its outcome unknown.', default: false }),
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
        'The tools of the module; its `handlers` has a function for each. When absent, each export of the module that is ' +
          'made with `defineTool` is a tool.',
      ),
    config: config.optional(),
    configSchema: jsonSchema.optional().describe('JSON Schema of the config.'),
    errorMessageLimit: count(1)
      .optional()
      .describe(
        'The maximum number of characters of its errors that the model gets; `policy.errorMessageLimit` of the agent when ' +
          'absent.',
      ),
  }),
);
