/** `kind: Connector` — a module that listens to the outside. */
import { z } from 'zod';
import { entry, jsonSchema, resource, text } from './fields.ts';

const event = z.union([
  text,
  z.strictObject({
    name: text.describe('What rules match.'),
    description: z.string().optional().describe('For people.'),
  }),
]);

export const connector = resource(
  'Connector',
  'A module that listens to the outside and emits what it hears.',
  z.strictObject({
    entry,
    events: z
      .array(event)
      .optional()
      .describe('What it may emit; anything when absent. A rule that matches another name is an error.'),
    configSchema: jsonSchema.optional().describe('JSON Schema of the config of its Connections.'),
  }),
);
