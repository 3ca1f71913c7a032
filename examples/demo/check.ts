// The agent of `gdn demo`, used as a library: see the README beside this file.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore, recordTurn, renderTrace, startAgent, systemClock, textOf } from '@goondan/runtime';
import { plan } from '../../packages/cli/demo/agent.ts';

const workdir = await mkdtemp(join(tmpdir(), 'goondan-demo-'));
const store = memoryStore();
const agent = await startAgent({ ...plan, workdir }, { store });

const first = await ask('event-1', 'What is the weather in Seoul for the next 30 days?');
assert.equal(first.answer, 'Seoul, the next 3 days: 12 °C, 14 °C, 11 °C.');
console.log(first.trace);

// tool-guard: the model asked for 30 days and the tool was asked for 3; the station's number went no further.
assert.match(first.trace, /~ args\.days: 30 → 3/);
assert.match(first.trace, /← output\.station removed/);
assert.doesNotMatch(JSON.stringify(await store.read(agent.parts.address)), /KR-108/);

// read-only: the tool that writes a file is not offered, in any step.
assert.equal(first.trace.match(/~ toolCatalog\.weather__save removed/g)?.length, 2);
assert.deepEqual(await readdir(workdir), []);

// memory: told to the model for the length of the turn, kept as state, absent from the history.
assert.match(first.trace, /\+ append system memory\.visits/);
await ask('event-2', 'And the weather in Lisbon?');
const { messages, extensionState } = await store.read(agent.parts.address);
assert.deepEqual(extensionState, { memory: 2 });
assert.deepEqual(
  messages.map(({ data }) => data.role),
  ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant', 'tool', 'assistant'],
);

// A model that asks for the hidden tool all the same is refused by the runtime, and nothing is written.
const script = [
  { when: '.', call: { tool: 'weather__save', args: { text: 'Sunny.' } } },
  { afterTool: 'weather__save', say: '{{result.error.code}}' },
];
const insistent = { 'Model/scripted': { provider: 'scripted', model: 'insistent', options: { script } } };
const refused = await startAgent({ ...plan, workdir, models: insistent });
assert.equal((await ask('event-3', 'Save it!', refused)).answer, 'E_TOOL_NOT_OFFERED');
assert.deepEqual(await readdir(workdir), []);

await Promise.all([agent.close(), refused.close()]);
await rm(workdir, { recursive: true });

async function ask(id: string, input: string, asked = agent): Promise<{ answer: string; trace: string }> {
  const recorder = recordTurn(systemClock);
  const { result } = await asked.handle(
    {
      id,
      type: 'user.message',
      input,
      instanceKey: 'default',
      source: { kind: 'cli', name: 'example' },
      traceId: `trace-of-${id}`,
      createdAt: new Date(),
    },
    { observer: recorder },
  );
  const turn = recorder.turn();
  assert(turn);
  return { answer: textOf(result.responseMessage), trace: renderTrace(turn) };
}
