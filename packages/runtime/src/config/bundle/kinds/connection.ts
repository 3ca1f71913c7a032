/** `kind: Connection` — a connector bound to a swarm. */
import type { JsonPrimitive } from '@goondan/types';
import { z } from 'zod';
import { config, environment, reference, resource, text, valueSource } from './fields.ts';

const primitive: z.ZodType<JsonPrimitive> = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const rule = z.strictObject({
  match: z
    .strictObject({
      event: text.optional().describe('The name of the event.'),
      properties: z
        .record(z.string(), primitive)
        .optional()
        .describe('Properties that the event must have, with exactly these values.'),
    })
    .optional()
    .describe('Conditions that the event must all meet; without conditions every event matches.'),
  route: z
    .strictObject({
      agentRef: reference('Agent')
        .optional()
        .describe('The agent that gets the event; the entry agent of the swarm when absent.'),
      instanceKey: text.optional().meta({ description: 'Which instance.', default: 'default' }),
      instanceKeyProperty: text
        .optional()
        .describe('The event property whose value is the key; not together with `instanceKey`.'),
      instanceKeyPrefix: z.string().optional().describe('A prefix for that value.'),
    })
    .describe('The conversation that gets the event.'),
});

export const connection = resource(
  'Connection',
  'A connector bound to a swarm: its config, its secrets, and the rules that route its events.',
  z.strictObject({
    connectorRef: reference('Connector').describe('The connector that listens.'),
    swarmRef: reference('Swarm')
      .optional()
      .describe('The swarm that gets the events; optional if the bundle has only one.'),
    config: config.optional().describe('The config of the connector, as `ctx.config`.'),
    secrets: z
      .record(z.string(), valueSource)
      .optional()
      .describe('The secrets of the connector by name, as `ctx.secrets`; masked in all output.'),
    environment: environment.optional(),
    ingress: z
      .strictObject({ rules: z.array(rule).min(1).describe('Rules in order; the first that matches is used.') })
      .describe('The routing of the events.'),
  }),
);
