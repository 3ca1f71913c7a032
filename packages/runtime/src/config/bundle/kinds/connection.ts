/** `kind: Connection` — a connector bound to a swarm. */
import type { JsonPrimitive } from '@goondan/types';
import { z } from 'zod';
import { config, environment, reference, resource, text, valueSource } from './fields.ts';

const primitive: z.ZodType<JsonPrimitive> = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const rule = z.strictObject({
  match: z
    .strictObject({
      event: text.optional().describe('The name of the event.'),
      properties: z.record(z.string(), primitive).optional().describe('Each must be exactly this.'),
    })
    .optional()
    .describe('Everything named must fit; nothing named fits every event.'),
  route: z
    .strictObject({
      agentRef: reference('Agent').optional().describe('Who gets it; the entry agent of the swarm when absent.'),
      instanceKey: text.optional().meta({ description: 'Which instance.', default: 'default' }),
      instanceKeyProperty: text
        .optional()
        .describe('The property of the event whose value is the key; not together with `instanceKey`.'),
      instanceKeyPrefix: z.string().optional().describe('Goes before that value.'),
    })
    .describe('Where the event goes.'),
});

export const connection = resource(
  'Connection',
  'A connector bound to a swarm: its config and secrets, and where what it hears goes.',
  z.strictObject({
    connectorRef: reference('Connector').describe('The connector that listens.'),
    swarmRef: reference('Swarm').optional().describe('The swarm it listens for; may be left out when there is one.'),
    config: config.optional().describe('What the connector finds in `ctx.config`.'),
    secrets: z
      .record(z.string(), valueSource)
      .optional()
      .describe('What it finds in `ctx.secrets`, by name; masked wherever it would show.'),
    environment: environment.optional(),
    ingress: z
      .strictObject({ rules: z.array(rule).min(1).describe('In order; the first that fits decides.') })
      .describe('Where what it hears goes.'),
  }),
);
