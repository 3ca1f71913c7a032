import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineSwarm } from '@goondan/runtime';
import { textOf } from '@goondan/types';
import { resources, startShop } from './swarm.ts';

const stateRoot = await mkdtemp(join(tmpdir(), 'goondan-defined-swarm-'));
const swarm = await startShop(stateRoot);
try {
  const { result } = await swarm.ask({ input: 'What is the price of tea?' });
  assert.equal(textOf(result.responseMessage), 'That is 4 euros.');
} finally {
  await swarm.stop();
  await rm(stateRoot, { recursive: true, force: true });
}

// A mistake is found before anything starts, and the error suggests a fix.
const clerk = resources.findLast(({ kind }) => kind === 'Agent');
assert(clerk?.kind === 'Agent');
const wrong = { ...clerk, spec: { ...clerk.spec, tools: ['Tool/prcies'] } };
const others = resources.filter((resource) => resource !== clerk);
await assert.rejects(defineSwarm({ folder: import.meta.dirname, resources: [...others, wrong] }), {
  code: 'E_BUNDLE_INVALID',
  message: /Agent\/clerk: There is no Tool\/prcies, neither in this bundle nor in @goondan\/base\./,
});
