/** `kind: Connector` — a module that listens to the outside. */
import { z } from 'zod';
import { entry, jsonSchema, optional, resource, text } from './fields.ts';

const event = z.union([
  text,
  z.strictObject({
    name: text.describe('The name of the event, as rules match it.'),
    description: optional(z.string(), 'For people.'),
  }),
]);

export const connector = resource(
  'Connector',
  'A module that listens to the outside and emits events.',
  z.strictObject({
    entry,
    events: optional(
      z.array(event),
      'The events that the connector may emit; any when absent. A rule for an event that is not listed is an error.',
    ),
    configSchema: optional(jsonSchema, 'JSON Schema of the config of its Connections.'),
  }),
);
