// Tests `gdn ls` with a running swarm, a stopped one, and one whose bundle is gone.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ListedSwarm } from '../swarm/list-swarms.ts';
import { GdnPlace } from '../testing/gdn-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';

// This timeout is long, because processes start one after the other and the machine may be busy.
setDefaultTimeout(60_000);

let place: GdnPlace;
beforeAll(async () => {
  place = new GdnPlace();
  for (const name of ['gone', 'asleep']) {
    await place.write(name, { 'goondan.yaml': sampleBundle() });
    await place.run('run', name, '--trust', '--input', 'Hi');
  }
  rmSync(join(place.folder, 'gone'), { recursive: true });
  await place.write('awake', { 'goondan.yaml': sampleBundle({ agents: ['helper'] }) });
  await place.serve('awake');
});
afterAll(async () => expect(await place.remove()).toEqual([]));

describe('F-26 ls', () => {
  test('lists every swarm of the state root, from any folder: running ones first', async () => {
    const { stdout, stderr, exitCode } = await place.runWith({ cwd: '/', env: { HOME: '/nowhere' } }, 'ls');
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
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
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

  test('without a swarm it names the state root', async () => {
    const root = join(place.folder, 'empty');
    const { stdout, exitCode } = await place.run('ls', '--state-root', root);
    expect(stdout).toBe(`No swarm has run yet (state root: ${root}). Start one with \`gdn run\`.\n`);
    expect(exitCode).toBe(0);
  });
});
