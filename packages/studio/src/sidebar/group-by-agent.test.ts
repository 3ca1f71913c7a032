import type { AgentView, InstanceView } from '@goondan/cli/studio';
import { expect, test } from 'bun:test';
import { groupByAgent } from './group-by-agent.ts';

test('agents are in the order of the swarm, whichever worked last; those without a conversation are left out', () => {
  const conversations = [talk('worker', 'b'), talk('lead', 'a'), talk('gone', 'x'), talk('worker', 'a')];
  const groups = groupByAgent({ conversations, agents: [agent('lead'), agent('idle'), agent('worker')] });
  expect(groups.map(([name, talks]) => `${name} ${talks.map(({ instanceKey }) => instanceKey).join()}`)).toEqual([
    'lead a',
    'worker b,a',
    'gone x',
  ]);
  expect(groupByAgent(undefined)).toEqual([]);
});

function talk(name: string, instanceKey: string): InstanceView {
  return { agent: name, instanceKey, status: 'idle', messages: 0, updatedAt: null, queued: 0, crashes: 0 };
}

function agent(name: string): AgentView {
  return { name, tools: [], toolSources: [], unknownTools: [], extensions: [], layers: [] };
}
