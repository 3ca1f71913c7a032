/** `kind: Swarm` — agents that can call each other. */
import { z } from 'zod';
import { extensionItem } from './agent.ts';
import { listItem, reference, resource, text } from './fields.ts';
import { swarmPolicy } from './policy.ts';

export const swarm = resource(
  'Swarm',
  'Agents that can call each other.',
  z.strictObject({
    description: z.string().optional().describe('For people.'),
    entryAgent: reference('Agent').describe('Gets what names no agent; one of `agents`.'),
    agents: z.array(listItem('Agent', {})).min(1).describe('Who is in it.'),
    extensions: z
      .array(extensionItem)
      .optional()
      .describe('The outermost layers of every agent of the swarm, so that none escapes a guard.'),
    policy: swarmPolicy.optional(),
    workspace: text
      .optional()
      .describe('Swarms that name the same workspace share their conversations; when absent, each bundle has its own.'),
  }),
);
