import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textOf } from '@goondan/types';
import { startLibrary } from './swarm.ts';

const stateRoot = await mkdtemp(join(tmpdir(), 'goondan-two-agents-'));
const swarm = await startLibrary(stateRoot);
try {
  const ask = async (input: string, instanceKey = 'default') =>
    textOf((await swarm.ask({ input, instanceKey })).result.responseMessage);

  // No agent has a process yet: the first message starts the host, and the host's question starts the librarian.
  assert.deepEqual((await swarm.status()).instances, []);
  assert.equal(await ask('Tell me about tea.'), 'Sencha is steamed, not roasted.');
  const { instances } = await swarm.status();
  assert.deepEqual(instances.map(({ agent }) => agent).toSorted(), ['host', 'librarian']);
  const pids = new Set([process.pid, ...instances.map(({ pid }) => pid)]);
  assert.equal(pids.size, 3);

  // Each agent knows the names of the other agents. A call that would wait for itself is refused at once, and the error
  // shows the chain of calls.
  assert.equal(await ask('Tell me who works here.'), 'You could ask the librarian.');
  assert.match(await ask('Is the host again there?'), /would wait for itself: host → host/);

  // Another visitor has another instance of both agents, with its own processes and conversations.
  assert.equal(await ask('Tell me about tea.', 'visitor-2'), 'Sencha is steamed, not roasted.');
  assert.equal((await swarm.instances()).length, 4);
} finally {
  await swarm.stop();
  await rm(stateRoot, { recursive: true, force: true });
}
