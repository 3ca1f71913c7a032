/**
 * The swarm under test: agents that work, ask others, block their event loop and leave programs behind, and a
 * connector.
 */
import type { StartSwarmOptions } from '@goondan/runtime';

export const workspace = 'torture';

const script = [
  { when: 'work (?<job>\\S+)', call: { tool: 'work__do', args: { job: '{{job}}' } } },
  { when: 'ask (?<job>\\S+)', call: { tool: 'agents__request', args: { target: 'worker', input: 'work {{job}}' } } },
  { when: 'block (?<job>\\S+)', call: { tool: 'work__block', args: { job: '{{job}}' } } },
  { when: 'leave (?<job>\\S+)', call: { tool: 'work__leave', args: { job: '{{job}}' } } },
  { say: 'Done.' },
];
const models = { 'Model/scripted': { provider: 'scripted', model: 'torture', options: { script } } };
const parameters = { type: 'object', properties: { job: { type: 'string' } }, required: ['job'] };
const tools = [
  {
    name: 'work',
    root: import.meta.dir,
    entry: './work.ts',
    exports: [
      { name: 'do', description: 'Takes its time.', parameters, idempotent: true },
      { name: 'block', description: 'Blocks the event loop for a while.', parameters },
      { name: 'leave', description: 'Starts a program and leaves it running.', parameters, idempotent: true },
    ],
  },
];

export function torturePlan(stateRoot: string): StartSwarmOptions {
  return {
    name: 'torture',
    workspace,
    stateRoot,
    agents: [
      { agentName: 'worker', models, tools },
      { agentName: 'asker', models, tools, agentTools: true },
    ],
    connections: [
      {
        connection: 'feed',
        connector: 'feed',
        root: import.meta.dir,
        entry: './connectors/feed.ts',
        config: { portFile: `${stateRoot}/feed-port` },
        secrets: {},
        rules: [{ route: { agentRef: 'Agent/worker', instanceKeyProperty: 'key', instanceKeyPrefix: 'feed-' } }],
      },
    ],
    policy: {
      // These times are short, so that a hundred kills fit into a test.
      restart: { quickCrashes: 10, baseMs: 20, maxMs: 200, healthyMs: 2_000 },
      requestTimeoutMs: 60_000,
      shutdown: { gracePeriodSeconds: 10 },
    },
  };
}
