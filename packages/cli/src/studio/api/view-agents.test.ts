import { expect, test } from 'bun:test';
import type { DeclaredAgents } from '@goondan/runtime/bundle';
import type { SwarmPlace } from '../../swarm/swarm-place.ts';
import { viewAgents } from './view-agents.ts';

test('Studio shows the agents that an agent may ask', async () => {
  const models = { 'Model/m': { provider: 'scripted', model: 'm' } };
  const agents: DeclaredAgents['agents'] = [
    { agentName: 'all', models, agentTools: true },
    { agentName: 'one', models, agentTools: true, mayAsk: ['one', 'layers'] },
    { agentName: 'none', models, agentTools: true, mayAsk: [] },
    { agentName: 'layers', models, mayAsk: ['all'] },
    { agentName: 'silent', models },
  ];
  // The cast is safe: nothing is recorded at this place.
  const place = { stateRoot: '/nowhere', workspaceId: 'nothing' } as SwarmPlace;
  const views = await viewAgents(place, { entryAgent: 'all', agents }, []);
  expect(Object.fromEntries(views.map(({ name, mayAsk }) => [name, mayAsk]))).toEqual({
    all: ['one', 'none', 'layers', 'silent'],
    one: ['layers'],
    none: [],
    layers: ['all'],
    silent: [],
  });
});
