/** `kind: Swarm` — agents that can call each other. */
import { z } from 'zod';
import { extensionItem } from './agent.ts';
import { listItem, optional, reference, resource, text } from './fields.ts';
import { swarmPolicy } from './policy.ts';

export const swarm = resource(
  'Swarm',
  'Agents that can call each other.',
  z.strictObject({
    description: optional(z.string(), 'For people.'),
    entryAgent: reference('Agent').describe('The agent that gets inputs without an agent; one of `agents`.'),
    agents: z.array(listItem('Agent', {})).min(1).describe('The agents of the swarm.'),
    extensions: optional(
      z.array(extensionItem),
      'Extensions whose layers are the outermost layers of every agent in the swarm, for guards that apply to all agents.',
    ),
    policy: swarmPolicy.optional(),
    workspace: optional(
      text,
      'The name of the workspace. Swarms with the same workspace share their conversations; when absent, each ' +
        'bundle has its own.',
    ),
  }),
);
