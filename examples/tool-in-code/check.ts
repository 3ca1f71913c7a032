import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSwarm } from '@goondan/runtime';
import { loadBundle, resolveSwarm } from '@goondan/runtime/bundle';
import { textOf } from '@goondan/types';
import { definePlay } from './swarm.ts';

// This folder is a bundle. The program loads and starts it, as `gdn run examples/tool-in-code` does.
const bundle = await loadBundle(import.meta.dirname, { environment: {} });
assert.deepEqual([bundle.errors, bundle.warnings], [[], []]);

const stateRoot = await mkdtemp(join(tmpdir(), 'goondan-tool-in-code-'));
const { plan } = resolveSwarm(bundle, { environment: {} });
try {
  const swarm = await startSwarm({ ...plan, stateRoot, bundleFolder: bundle.folder });
  const { result } = await swarm.ask({ input: 'Roll a die.' });
  assert.match(textOf(result.responseMessage), /^You rolled [1-6]\.$/);
  const two = await swarm.ask({ input: 'Roll two dice.' });
  assert.match(textOf(two.result.responseMessage), /^You rolled [1-6] and [1-6]\.$/);

  // If the schema refuses the arguments, `run` is not called, and the model reads the reason.
  const refused = await swarm.ask({ input: 'Roll one with a thousand sides.' });
  assert.match(textOf(refused.result.responseMessage), /sides must be <= 100/);
  await swarm.stop();

  const defined = await startSwarm({ ...(await definePlay()), stateRoot });
  const same = await defined.ask({ input: 'Roll a die.' });
  assert.match(textOf(same.result.responseMessage), /^You rolled [1-6]\.$/);
  await defined.stop();
} finally {
  await rm(stateRoot, { recursive: true, force: true });
}
