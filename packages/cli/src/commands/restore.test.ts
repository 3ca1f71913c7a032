// The warnings of `gdn restore` about agents that the bundle lacks.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { durableStore } from '@goondan/runtime/history';
import { backUpFiles } from '@goondan/runtime/internal';
import { runSimpleTurn } from '../../../runtime/src/workspace/simulation/simulated-turn.ts';
import { GdnPlace } from '../testing/gdn-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';

// This timeout is long, because the machine may be busy.
setDefaultTimeout(60_000);

let place: GdnPlace;
beforeEach(() => void (place = new GdnPlace()));
afterEach(async () => expect(await place.remove()).toEqual([]));

/** Restores a backup with one conversation of each agent, for a bundle that has only the agent `host`. */
async function restore(agents: readonly string[], bundle = sampleBundle()) {
  const from = { stateRoot: join(place.folder, 'from'), workspaceId: 'w' };
  const journal = await durableStore(from);
  for (const agentName of agents) await runSimpleTurn(journal, { agentName, instanceKey: 'one' }, agentName);
  await journal.close();
  await backUpFiles(from, { folder: join(place.folder, 'copy'), version: '1', swarm: 'default' });
  await place.write('bundle', { 'goondan.yaml': bundle });
  const { stdout, stderr, exitCode } = await place.run('restore', 'copy', '--bundle', 'bundle', '--json');
  return { exitCode, stderr, result: JSON.parse(stdout) };
}

test('one agent that the bundle lacks is named, with its conversation', async () => {
  expect(await restore(['host', 'clerk'])).toMatchObject({
    exitCode: 0,
    stderr:
      'warn: Swarm "default" of this bundle has no agent "clerk": 1 conversation is restored, but does not start until ' +
      'the bundle has the agent. Inputs that wait are kept until then.\n',
    result: { conversations: 2, missingAgents: ['clerk'] },
  });
});

test.each([5, 7])(
  'of %i agents that the bundle lacks, at most five are named, and all are in the JSON',
  async (count) => {
    const agents = Array.from({ length: count }, (_, index) => `a${index + 1}`);
    const more = count > 5 ? ' and 2 more' : '';
    expect(await restore(agents)).toMatchObject({
      stderr: expect.stringContaining(`has no agents "a1", "a2", "a3", "a4", "a5"${more}: ${count} conversations are`),
      result: { missingAgents: agents },
    });
  },
);

test('without missing agents there is no such warning', async () => {
  const complete = await restore(['host']);
  expect(complete).toMatchObject({ exitCode: 0, stderr: '', result: { conversations: 1 } });
  expect(complete.result).not.toHaveProperty('missingAgents');
});

test('a bundle with errors gives no warning about its agents, because nobody knows them', async () => {
  const wrong = sampleBundle().replace('modelRef: Model/scripted', 'modelRef: Model/nowhere');
  const restored = await restore(['host', 'clerk'], wrong);
  expect(restored).toMatchObject({ exitCode: 0, stderr: '', result: { conversations: 2 } });
  expect(restored.result).not.toHaveProperty('missingAgents');
});
