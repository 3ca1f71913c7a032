import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSwarm, type TurnEnd } from '@goondan/runtime';
import { loadBundle, resolveSwarm } from '@goondan/runtime/bundle';
import { textOf } from '@goondan/types';

// One resource of each kind (and a second model); docs/reference/configuration.md shows their files.
const environment = { TEAM_KEY: 'not-a-real-key' };
const bundle = await loadBundle(import.meta.dirname, { environment });
assert.deepEqual([bundle.errors, bundle.warnings], [[], []]);

const stateRoot = await mkdtemp(join(tmpdir(), 'goondan-every-kind-'));
const { plan } = resolveSwarm(bundle, { environment });
const logged: string[] = [];
const swarm = await startSwarm({
  ...plan,
  stateRoot,
  bundleFolder: bundle.folder,
  onLog: ({ message }) => void logged.push(message),
});
try {
  // Nobody sends an input here: the connector emits an event, and its connection routes the event to an agent.
  const ended = Promise.withResolvers<TurnEnd>();
  await swarm.watch({ types: ['turn.ended'] }, (notice) => {
    if (notice.type === 'turn.ended') ended.resolve(notice.end);
  });
  const end = await ended.promise;
  assert.deepEqual([end.agent, end.instanceKey], ['watchman', 'building-north']);
  assert.equal(textOf(end.result.responseMessage), 'The back door is open.');
  assert.ok(logged.includes('watchman of building-north: text_response'), logged.join('\n'));
} finally {
  await swarm.stop();
  await rm(stateRoot, { recursive: true, force: true });
}
