// Two agents in two processes share a model that takes one call at a time. The second call waits, and the trace says so.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSwarm } from '@goondan/runtime';
import { listTurns, readTurnTrace } from '@goondan/runtime/history';

const stateRoot = await mkdtemp(join(tmpdir(), 'goondan-limits-'));
const swarm = await startSwarm({ bundleFolder: import.meta.dirname, stateRoot });
const agents = ['clerk', 'baker'];
try {
  // The processes start first, so that both agents call the model at the same time.
  for (const agent of agents) await swarm.ask({ agent, input: 'Good morning.' });
  await Promise.all(agents.map((agent) => swarm.ask({ agent, input: 'Hello.' })));
} finally {
  await swarm.stop();
}

const place = { stateRoot, workspaceId: 'limits' };
const waits: number[] = [];
for (const { turnId, input } of await listTurns(place)) {
  if (input !== 'Hello.') continue;
  const { turns } = await readTurnTrace(place, turnId);
  waits.push(turns[0]?.chain.inside[0]?.inside[0]?.limitMs ?? 0);
}
const [short = 0, long = 0] = waits.toSorted((one, other) => one - other);
assert(short < 100, `One call did not wait: ${short} ms.`);
assert(long > 100, `The other call waited for it: ${long} ms.`);
await rm(stateRoot, { recursive: true, force: true });
