// The words of `gdn restore` about agents that the bundle lacks, and about answers for always.
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { durableStore } from '@goondan/runtime/history';
import { backUpFiles } from '@goondan/runtime/internal';
import { systemClock } from '../../../runtime/src/ports/clock.ts';
import { systemFs } from '../../../runtime/src/ports/fs.ts';
import { systemProcesses } from '../../../runtime/src/ports/processes.ts';
import { fakeQuestion } from '../../../runtime/src/testing/fake-control.ts';
import { QuestionFile } from '../../../runtime/src/workspace/questions/question-file.ts';
import { runSimpleTurn } from '../../../runtime/src/workspace/simulation/simulated-turn.ts';
import { openPlace } from '../testing/open-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';

const place = openPlace();

interface Restored {
  readonly bundle?: string;
  /** The ids of answers for always. */
  readonly grants?: readonly string[];
  readonly isText?: boolean;
}

/** Restores a backup with a conversation for each of these agents, for a bundle that has only the agent `host`. */
async function restore(
  agents: readonly string[],
  { bundle = sampleBundle(), grants = [], isText = false }: Restored = {},
) {
  const from = { stateRoot: join(place.folder, 'from'), workspaceId: 'w' };
  const journal = await durableStore(from);
  for (const [index, agentName] of agents.entries())
    await runSimpleTurn(journal, { agentName, instanceKey: `k${index}` }, agentName);
  await journal.close();
  const ports = { clock: systemClock, fs: systemFs, processes: systemProcesses, warn: () => undefined };
  const file = await QuestionFile.open(ports, from);
  for (const id of grants) {
    const answer = { decision: 'approved', always: 'tool', decidedAt: fakeQuestion.askedAt } as const;
    await file.put({ ...fakeQuestion, id, key: id, answer });
  }
  await file.close();
  await backUpFiles(from, { folder: join(place.folder, 'copy'), version: '1', swarm: 'default' });
  await place.write('bundle', { 'goondan.yaml': bundle });
  const json = isText ? [] : ['--json'];
  const { stdout, stderr, exitCode } = await place.run('restore', 'copy', '--bundle', 'bundle', ...json);
  return { exitCode, stderr, stdout, result: isText ? undefined : JSON.parse(stdout) };
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

test('an agent with several conversations is named once, and all of them are counted', async () => {
  expect(await restore(['seller', 'clerk', 'clerk'])).toMatchObject({
    stderr: expect.stringContaining('has no agents "clerk", "seller": 3 conversations are restored, but do not start'),
    result: { conversations: 3, missingAgents: ['clerk', 'seller'] },
  });
});

test('without missing agents there is no such warning', async () => {
  const complete = await restore(['host']);
  expect(complete).toMatchObject({ exitCode: 0, stderr: '', result: { conversations: 1 } });
  expect(complete.result).not.toHaveProperty('missingAgents');
});

test('a bundle with errors gives no warning about its agents, because nobody knows them', async () => {
  const wrong = sampleBundle().replace('modelRef: Model/scripted', 'modelRef: Model/nowhere');
  const restored = await restore(['host', 'clerk'], { bundle: wrong });
  expect(restored).toMatchObject({ exitCode: 0, stderr: '', result: { conversations: 2 } });
  expect(restored.result).not.toHaveProperty('missingAgents');
});

test('the number of answers for always that are not restored is told', async () => {
  const { stdout } = await restore(['host'], { grants: ['a', 'b'], isText: true });
  expect(stdout).toEndWith('2 answers for always are not restored: people are asked again.\n');
});
