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

test('only conversations that failed, crashed or cannot be read are listed on request', () => {
  const conversations = [
    talk('a', 'well'),
    talk('a', 'failed', { failed: true }),
    talk('a', 'crashed', { crashes: 1 }),
    talk('a', 'broken', { problem: 'E_STORE_CORRUPT' }),
    talk('b', 'well'),
  ];
  const groups = groupByAgent({ conversations, agents: [] }, true);
  expect(groups.map(([name, talks]) => [name, ...talks.map(({ instanceKey }) => instanceKey)])).toEqual([
    ['a', 'failed', 'crashed', 'broken'],
  ]);
});

function talk(name: string, instanceKey: string, more: Partial<InstanceView> = {}): InstanceView {
  return {
    ...more,
    agent: name,
    instanceKey,
    status: 'idle',
    messages: 0,
    updatedAt: null,
    queued: 0,
    crashes: more.crashes ?? 0,
  };
}

function agent(name: string): AgentView {
  return { name, tools: [], toolSources: [], unknownTools: [], extensions: [], layers: [] };
}
