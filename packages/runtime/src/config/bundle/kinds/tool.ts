/** `kind: Tool` — functions that a model may call. */
import { z } from 'zod';
import { config, count, entry, exclusive, jsonSchema, optional, resource, text } from './fields.ts';

const toolExport = z.strictObject({
  name: text.describe(
    'Lower-case letters, digits, `-` and single `_`. The model sees the tool as `{resource}__{export}`, at most 64 characters.',
  ),
  description: z.string().describe('A description for the model.'),
  parameters: optional(jsonSchema, 'JSON Schema of the arguments; no arguments when absent.'),
  parallel: optional(z.boolean(), 'If true, a call may run at the same time as other calls of the step.', false),
  idempotent: optional(z.boolean(), 'If true, a call may be repeated after a crash left its outcome unknown.', false),
  effects: optional(
    z.enum(['none', 'local', 'external']),
    'The reach of its effects: none, this machine, or the outside world. With `none`, a call may be repeated after a crash.',
  ),
});

export const tool = resource(
  'Tool',
  'A module with functions for a model to call.',
  z.strictObject({
    entry,
    exports: optional(
      z.array(toolExport).min(1),
      'The tools of the module; its `handlers` has a function for each. When absent, each export of the module that is ' +
        'made with `defineTool`, or with `tool` of the AI SDK, is a tool.',
    ),
    config: config.optional(),
    configSchema: optional(jsonSchema, 'JSON Schema of the config.'),
    errorMessageLimit: optional(
      count(1),
      'The maximum number of characters of its errors that the model gets; `policy.errorMessageLimit` of the agent when ' +
        'absent.',
    ),
    exclusive,
  }),
);
