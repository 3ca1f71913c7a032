/** A swarm of two agents with the extension `approval`: `keeper` puts things on a shelf, `boss` asks the keeper. */
import { join } from 'node:path';
import type { StartSwarmOptions } from '@goondan/runtime';
import type { DeclaredAgent, DeclaredExtension, SwarmPolicy } from '@goondan/runtime/bundle';
import type { JsonObject } from '@goondan/types';
import { rule } from '../../packages/base/src/extensions/approval/testing/rule.ts';

export const workspace = 'approval';
const base = join(import.meta.dir, '../../packages/base');

export interface PlanChoice {
  readonly config?: JsonObject;
  readonly policy?: SwarmPolicy;
  readonly isolation?: 'agent';
  readonly secrets?: readonly string[];
  /** The extensions of the boss, as file names in `test/swarm/bundle`. */
  readonly extensions?: readonly string[];
}

export function planIn(folder: string, choice: PlanChoice = {}): StartSwarmOptions {
  const { config = {}, policy = {}, secrets = [], extensions = [], isolation } = choice;
  const keeper = agent(folder, 'keeper', config, [
    { when: '^put (?<what>.+)', call: { tool: 'shelf__put', args: { what: '{{what}}' } } },
    { when: '^ask', call: { tool: 'shelf__ask' } },
    { when: '^look', call: { tool: 'shelf__look' } },
    { afterTool: 'shelf__look', say: 'It is {{result.shelf}}.' },
    { afterTool: 'shelf__put', say: 'Put {{result.put}}{{result.error.code}}: {{result.error.message}}' },
    { afterTool: 'shelf__ask', say: 'Put {{result.put}}{{result.error.code}}: {{result.error.message}}' },
    { say: 'You said: {{input}}' },
  ]);
  const boss = agent(folder, 'boss', { rules: [rule('agents__*', 'allow')] }, [
    { when: '^have (?<what>.+)', call: { tool: 'agents__request', args: { target: 'keeper', input: 'put {{what}}' } } },
    { say: 'The keeper says: {{result.response}}{{result.error.code}}' },
  ]);
  return {
    name: 'approval',
    workspace,
    stateRoot: join(folder, 'state'),
    entryAgent: 'keeper',
    agents: [
      { ...keeper, secrets, ...(isolation && { isolation }) },
      { ...boss, extensions: [...(boss.extensions ?? []), ...extensions.map(foreign)] },
    ],
    // A spare would cost each swarm the start of a process that nobody uses.
    policy: { restart: { quickCrashes: 100, baseMs: 1, maxMs: 5 }, spares: 0, ...policy },
  };
}

function agent(folder: string, agentName: string, config: JsonObject, script: JsonObject[]): DeclaredAgent {
  const exported = [
    { name: 'put', description: 'Puts something on the shelf.' },
    { name: 'ask', description: 'Asks a person for the shelf.' },
    { name: 'look', description: 'Looks at the shelf.', effects: 'none' as const },
  ];
  return {
    agentName,
    agentTools: true,
    workdir: folder,
    models: { 'Model/scripted': { provider: 'scripted', model: 'test', options: { script } } },
    tools: [{ name: 'shelf', root: join(import.meta.dir, 'bundle'), entry: './shelf.ts', exports: exported }],
    extensions: [approval(config)],
  };
}

function approval(config: JsonObject): DeclaredExtension {
  return { ...extension('approval', './src/extensions/approval/register.ts', config), root: base, tier: 'swarm' };
}

function foreign(name: string): DeclaredExtension {
  return { ...extension(name, `./${name}.ts`, {}), root: join(import.meta.dir, '../swarm/bundle') };
}

function extension(name: string, entry: string, config: JsonObject): Pick<DeclaredExtension, 'resource'> {
  const spec = { entry, config };
  return { resource: { apiVersion: 'goondan.ai/v1', kind: 'Extension', metadata: { name }, spec } };
}
