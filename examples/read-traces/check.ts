// Reads from disk what every layer of a turn did. In this turn one agent calls another, each in its own process.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonArray } from '@goondan/types';
import { startSwarm } from '@goondan/runtime';
import { listTurns, openStoreReader, readPrompts, readTurnTrace, renderTrace } from '@goondan/runtime/history';

const stateRoot = await mkdtemp(join(tmpdir(), 'goondan-traces-'));
const modelOf = (script: JsonArray) => ({ 'Model/m': { provider: 'scripted', model: 'm', options: { script } } });
const question = { tool: 'agents__request', args: { target: 'librarian', input: 'What is sencha?' } };
const swarm = await startSwarm({
  name: 'library',
  workspace: 'library',
  stateRoot,
  agents: [
    {
      agentName: 'host',
      agentTools: true,
      models: modelOf([
        { when: 'tea', call: question },
        { afterTool: 'agents__request', say: '{{result.response}}' },
      ]),
    },
    { agentName: 'librarian', models: modelOf([{ say: 'Green tea, steamed.' }]) },
  ],
});
try {
  await swarm.ask({ input: 'Tell me about tea.' });
} finally {
  // Traces are written shortly after a turn. A swarm writes all of them before it stops.
  await swarm.stop();
}

const place = { stateRoot, workspaceId: 'library' };
const turns = await listTurns(place);
assert.deepEqual(
  turns.map(({ agentName, input }) => [agentName, input]),
  [
    ['librarian', 'What is sencha?'],
    ['host', 'Tell me about tea.'],
  ],
);

const host = turns.find(({ agentName }) => agentName === 'host');
assert(host);
const {
  turns: [turn],
} = await readTurnTrace(place, host.turnId);
assert(turn);
console.log(renderTrace(turn));

// The librarian's turn is inside the tool call that asked for it.
const call = turn.chain.inside[0]?.inside.find(({ kind }) => kind === 'toolCall');
assert.deepEqual(
  call?.called.map(({ agentName }) => agentName),
  ['librarian'],
);

// Each model call as the model got it, with the author of each message.
const reader = openStoreReader(place);
const prompts = await readPrompts(reader, { id: host.turnId });
await reader.close();
assert.deepEqual(
  prompts.calls.map(({ isExact, request }) => [isExact, request.messages.map(({ message }) => message?.role)]),
  [
    [true, ['user']],
    [true, ['user', 'assistant', 'tool']],
  ],
);
await rm(stateRoot, { recursive: true });
