// Tests `gdn ls` with a running swarm, a stopped one, and one whose bundle is gone.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { controlSocketPath, systemSocketEnvironment } from '@goondan/runtime/control';
import type { ListedSwarm } from '../swarm/list-swarms.ts';
import { openPlace, outputOf } from '../testing/open-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';

const place = openPlace(afterAll);
beforeAll(async () => {
  for (const name of ['gone', 'asleep']) {
    await place.write(name, { 'goondan.yaml': sampleBundle() });
    await place.run('run', name, '--trust', '--input', 'Hi');
  }
  rmSync(join(place.folder, 'gone'), { recursive: true });
  await place.write('awake', { 'goondan.yaml': sampleBundle({ agents: ['helper'] }) });
  await place.serve('awake');
});

test('lists every swarm of the state root, from any folder: running ones first', async () => {
  const stdout = outputOf(await place.runWith({ cwd: '/', env: { HOME: '/nowhere' } }, 'ls'));
  const id = 'default-[0-9a-z]+';
  expect(stdout).toMatch(
    new RegExp(
      [
        '^swarm +state +agents +workspace +folder',
        `default  running \\(${process.pid}\\)  host, helper  ${id}  ${place.folder}/awake`,
        `default  stopped +host +${id}  ${place.folder}/asleep`,
        `default  stopped +host +${id}  ${place.folder}/gone \\(missing\\)\n$`,
      ].join('\n'),
    ),
  );
});

test('--running --json: only the running one, with its workspace and its folder', async () => {
  const { stdout } = await place.run('ls', '--running', '--json');
  const [swarm, ...others] = JSON.parse(stdout) as ListedSwarm[];
  expect(others).toEqual([]);
  expect(swarm).toEqual({
    ...{ swarm: 'default', running: true, pid: process.pid, startedAt: expect.any(String) },
    ...{ agents: ['host', 'helper'], folder: join(place.folder, 'awake'), folderExists: true },
    ...{ workspaceId: expect.stringMatching(/^default-/), conversations: 0, updatedAt: null },
    workspace: join(place.stateRoot, 'workspaces', swarm?.workspaceId ?? ''),
  });
});

test('a swarm that does not answer is listed as such, and counts as running', async () => {
  const asleep = (await list()).find(({ folder }) => folder === join(place.folder, 'asleep'));
  if (asleep === undefined) throw new Error('The swarm is not listed.');
  const { workspace, workspaceId } = asleep;
  const unix = controlSocketPath(workspace, workspaceId, systemSocketEnvironment());
  const silent = Bun.listen({ unix, socket: { data: () => undefined } });
  try {
    // Each of them waits for the answer.
    const [{ stdout }, running] = await Promise.all([place.run('ls'), list('--running')]);
    expect(stdout).toMatch(/^default +does not answer +host /m);
    expect(running).toContainEqual({ ...asleep, running: true, answers: false });
  } finally {
    silent.stop(true);
    rmSync(unix, { force: true });
  }
});

test('without a swarm it names the state root', async () => {
  const root = join(place.folder, 'empty');
  const { stdout, exitCode } = await place.run('ls', '--state-root', root);
  expect(stdout).toBe(`No swarm has run yet (state root: ${root}). Start one with \`gdn run\`.\n`);
  expect(exitCode).toBe(0);
});

async function list(...options: string[]): Promise<ListedSwarm[]> {
  // The cast is safe: this is the format of the command.
  return JSON.parse((await place.run('ls', '--json', ...options)).stdout) as ListedSwarm[];
}
