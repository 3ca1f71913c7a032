/** `kind: Connector` — a module that listens to the outside. */
import { z } from 'zod';
import { entry, jsonSchema, resource, text } from './fields.ts';

const event = z.union([text, z.strictObject({ name: text, description: z.string().optional() })]);

export const connector = resource(
  'Connector',
  'A module that listens to the outside and emits what it hears.',
  z.strictObject({
    entry,
    events: z.array(event).optional().describe('The names it may emit; any when absent.'),
    configSchema: jsonSchema.optional().describe('JSON Schema of the config of its Connections.'),
  }),
);
