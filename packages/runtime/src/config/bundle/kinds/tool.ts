/** `kind: Tool` — what a model may call. */
import { z } from 'zod';
import { config, count, entry, jsonSchema, resource, text } from './fields.ts';

const toolExport = z.strictObject({
  name: text.describe('The model knows it as {resource}__{export}: lower-case letters, digits, _ and -.'),
  description: z.string().describe('What it does, for the model.'),
  parameters: jsonSchema.optional().describe('JSON Schema of its arguments; none when absent.'),
  parallel: z.boolean().optional().describe('May run beside other calls of the same step.'),
  idempotent: z.boolean().optional().describe('May be run again when a crash left its outcome unknown.'),
  effects: z.enum(['none', 'local', 'external']).optional().describe('How far its effects reach.'),
});

export const tool = resource(
  'Tool',
  'What a model may call: a module that exports handlers.',
  z.strictObject({
    entry,
    exports: z.array(toolExport).min(1),
    config: config.optional(),
    configSchema: jsonSchema.optional().describe('JSON Schema of the config.'),
    errorMessageLimit: count(1).optional().describe('Characters of its errors that the model reads. Default 1000.'),
  }),
);
