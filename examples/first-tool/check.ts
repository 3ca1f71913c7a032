import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSwarm } from '@goondan/runtime';
import { loadBundle, resolveSwarm } from '@goondan/runtime/bundle';
import { textOf } from '@goondan/types';

// This folder is a bundle. The program loads and starts it, as `gdn run examples/first-tool` does.
const bundle = await loadBundle(import.meta.dirname, { environment: {} });
assert.deepEqual([bundle.errors, bundle.warnings], [[], []]);

const stateRoot = await mkdtemp(join(tmpdir(), 'goondan-first-tool-'));
const { plan } = resolveSwarm(bundle, { environment: {} });
const swarm = await startSwarm({ ...plan, stateRoot, bundleFolder: bundle.folder });
try {
  const { result } = await swarm.ask({ input: 'Roll a die.' });
  assert.match(textOf(result.responseMessage), /^You rolled [1-6]\.$/);

  // If the schema refuses the arguments, the handler is not called, and the model reads the reason.
  const refused = await swarm.ask({ input: 'Roll one with a thousand sides.' });
  assert.match(textOf(refused.result.responseMessage), /sides must be <= 100/);
} finally {
  await swarm.stop();
  await rm(stateRoot, { recursive: true, force: true });
}
