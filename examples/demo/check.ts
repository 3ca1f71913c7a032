// The swarm of `gdn demo`, used as a library: see the README beside this file.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSwarm, type Swarm, type SwarmPlan } from '@goondan/runtime';
import { loadBundle, resolveSwarm } from '@goondan/runtime/bundle';
import { durableStore, readTurnTrace, renderTrace } from '@goondan/runtime/history';
import { textOf } from '@goondan/types';

const temporary = await mkdtemp(join(tmpdir(), 'goondan-demo-'));
const workdir = await mkdtemp(join(temporary, 'work-'));
const environment = process.env;
const bundle = await loadBundle(join(import.meta.dirname, '../../packages/cli/demo'), { environment });
const { plan, workspaceId } = resolveSwarm(bundle, { environment, workdir });
const place = { stateRoot: join(temporary, 'state'), workspaceId };

try {
  const turnId = await withSwarm(plan, async (swarm) => {
    const { result } = await swarm.ask({ input: 'What is the weather in Seoul for the next 30 days?' });
    assert.equal(textOf(result.responseMessage), 'Seoul, the next 3 days: 12 °C, 14 °C, 11 °C.');
    assert.equal(await answer(swarm, 'And the weather in Lisbon?'), 'Lisbon, tomorrow: 21 °C.');

    // Two agents answered, each in a process of its own.
    const pids = (await swarm.status()).instances.map(({ pid }) => pid);
    assert.equal(new Set([process.pid, ...pids]).size, 3);

    // approval: the booking waits for a person, and the model reads the decision.
    assert.equal(
      await answer(swarm, 'Book a picnic in Lisbon', 'approve'),
      'A picnic in Lisbon is booked. Bring friends.',
    );
    assert.match(
      await answer(swarm, 'Book a picnic in Lisbon', 'deny'),
      /^A person denied this call of "picnic__book"\./,
    );
    return result.turnId;
  });

  const [turn] = (await readTurnTrace(place, turnId)).turns;
  assert(turn);
  const trace = renderTrace(turn);
  console.log(trace);

  // The forecaster's turn is inside the tool call that asked for it.
  const call = turn.chain.inside[0]?.inside.find(({ kind }) => kind === 'toolCall');
  assert.deepEqual(
    call?.called.map(({ agentName }) => agentName),
    ['forecaster'],
  );

  // tool-guard: the model asked for 30 days, but the tool got 3. The station's number was removed from the result.
  assert.match(trace, /~ args\.days: 30 → 3/);
  assert.match(trace, /← output\.station removed/);
  const store = await durableStore(place);
  const forecaster = await store.read({ agentName: 'forecaster', instanceKey: 'default' });
  const concierge = await store.read({ agentName: 'concierge', instanceKey: 'default' });
  await store.close();
  assert.doesNotMatch(JSON.stringify([forecaster, concierge]), /KR-108/);

  // read-only: the tool that writes a file is not offered, in any step.
  assert.equal(trace.match(/~ toolCatalog\.weather__save removed/g)?.length, 2);
  assert.deepEqual(await readdir(workdir), []);

  // memory: the model gets the number of visits during the turn. The number is kept as state, and is not in the
  // history.
  assert.match(trace, /\+ append system: This is the user's visit number/);
  assert.deepEqual(concierge.extensionState, { memory: 4 });
  assert.deepEqual([...new Set(concierge.messages.map(({ data }) => data.role))], ['user', 'assistant', 'tool']);

  // A model that still asks for the hidden tool is refused by the runtime, and nothing is written.
  const script = [
    { when: '.', call: { tool: 'weather__save', args: { text: 'Sunny.' } } },
    { afterTool: 'weather__save', say: '{{result.error.code}}' },
  ];
  const models = { 'Model/main': { provider: 'scripted', model: 'insistent', options: { script } } };
  const insistent = { ...plan, agents: plan.agents.map((agent) => ({ ...agent, models })) };
  await withSwarm(insistent, async (swarm) => {
    const { result } = await swarm.ask({ agent: 'forecaster', input: 'Save it!' });
    assert.equal(textOf(result.responseMessage), 'E_TOOL_NOT_OFFERED');
  });
  assert.deepEqual(await readdir(workdir), []);
} finally {
  await rm(temporary, { recursive: true });
}

async function withSwarm<Value>(started: SwarmPlan, work: (swarm: Swarm) => Promise<Value>): Promise<Value> {
  const swarm = await startSwarm({ ...started, stateRoot: place.stateRoot, bundleFolder: bundle.folder });
  try {
    return await work(swarm);
  } finally {
    await swarm.stop();
  }
}

/** Asks the swarm and returns its answer. `decision` is the person's answer when a tool call needs approval. */
async function answer(swarm: Swarm, input: string, decision?: 'approve' | 'deny'): Promise<string> {
  const watch = await swarm.watch({ types: ['question'] }, (notice) => {
    if (notice.type !== 'question' || notice.state !== 'asked') return;
    assert(decision);
    const given = decision === 'approve' ? 'approved' : 'denied';
    void swarm.answer({ id: notice.question.id, decision: given, by: 'alice' });
  });
  const { result } = await swarm.ask({ input });
  watch.end();
  return textOf(result.responseMessage);
}
