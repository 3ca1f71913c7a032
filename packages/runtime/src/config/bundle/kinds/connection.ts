/** `kind: Connection` — a connector bound to a swarm. */
import type { JsonPrimitive } from '@goondan/types';
import { z } from 'zod';
import { config, environment, optional, reference, resource, text, valueSource } from './fields.ts';

const primitive: z.ZodType<JsonPrimitive> = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const rule = z.strictObject({
  match: z
    .strictObject({
      event: optional(text, 'The name of the event.'),
      properties: optional(
        z.record(z.string(), primitive),
        'Properties that the event must have, with exactly these values.',
      ),
    })
    .optional()
    .describe('Conditions that the event must all meet; without conditions every event matches.'),
  route: z
    .strictObject({
      agentRef: optional(
        reference('Agent'),
        'The agent that gets the event; the entry agent of the swarm when absent.',
      ),
      instanceKey: optional(text, 'Which instance.', 'default'),
      instanceKeyProperty: optional(
        text,
        'The event property whose value is the key; not together with `instanceKey`.',
      ),
      instanceKeyPrefix: optional(z.string(), 'A prefix for that value.'),
    })
    .describe('The conversation that gets the event.'),
});

export const connection = resource(
  'Connection',
  'A connector bound to a swarm: its config, its secrets, and the rules that route its events.',
  z.strictObject({
    connectorRef: reference('Connector').describe('The connector that listens.'),
    swarmRef: optional(reference('Swarm'), 'The swarm that gets the events; optional if the bundle has only one.'),
    config: optional(config, 'The config of the connector, as `ctx.config`.'),
    secrets: optional(
      z.record(z.string(), valueSource),
      'The secrets of the connector by name, as `ctx.secrets`; masked in all output.',
    ),
    environment: environment.optional(),
    placement: optional(
      z.enum(['one', 'every']),
      'The nodes that run the connection, in a swarm with several nodes. `one`: a single node, and another one when that node is lost. `every`: each node, for example for webhooks behind a load balancer.',
      'one',
    ),
    answersQuestions: optional(
      z.boolean(),
      'If true, clients of the connector see and answer the questions of the turns that their events began. The connection needs a secret, by which the connector knows its clients.',
      false,
    ),
    ingress: optional(
      z.strictObject({ rules: z.array(rule).min(1).describe('Rules in order; the first that matches is used.') }),
      'The routing of the events; when absent, the entry agent of the swarm gets all of them.',
    ),
  }),
);
