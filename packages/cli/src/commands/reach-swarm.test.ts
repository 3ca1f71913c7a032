// Tests a running swarm whose bundle becomes invalid: it can be reached, refuses reloads, and can be stopped.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { SwarmNotice } from '@goondan/runtime';
import { reachSwarm } from '../swarm/reach-swarm.ts';
import { GdnPlace } from '../testing/gdn-place.ts';
import { runCaptured } from '../testing/run-captured.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { until } from '../../../../test/until.ts';

const place = new GdnPlace();
const folder = join(place.folder, 'swarm');
setDefaultTimeout(60_000);

const extension = (name: string) => `kind: Extension\nmetadata: { name: ${name} }\nspec: { entry: ./${name}.ts }`;
const ears = `kind: Connector
metadata: { name: ears }
spec: { entry: ./ears.ts, events: [{ name: heard }] }
---
apiVersion: goondan.ai/v1
kind: Connection
metadata: { name: ears }
spec: { connectorRef: Connector/ears, ingress: { rules: [{ match: { event: heard }, route: { agentRef: Agent/host } }] } }`;
const good = 'export const register = () => undefined;\n';
const corrected = 'export const register = () => console.log("corrected");\n';
const throws = 'export function register() {\n  throw new Error("not today");\n}\n';
const quietEars = 'export default async () => undefined;\n';

/** Writes a bundle with the agents `host`, which these tests ask, and `helper`, which never has a process. */
function bundleWith(more: string): string {
  const documents = sampleBundle({ agents: ['helper'], agent: 'extensions: [Extension/part]' }).replace(
    'metadata: { name: helper }\nspec:\n',
    'metadata: { name: helper }\nspec:\n  extensions: [Extension/other]\n',
  );
  return [documents, extension('part'), extension('other'), ...(more === '' ? [] : [more])].join(
    '\n---\napiVersion: goondan.ai/v1\n',
  );
}

const gdn = (...args: string[]) => runCaptured([...args, '--state-root', place.stateRoot]);
const about = (...args: string[]) => gdn(...args, '--bundle', folder);

async function pidOf(agent: string): Promise<number | undefined> {
  const { stdout } = await about('status', '--json');
  // The type describes the output of `gdn status --json`.
  const { agents } = JSON.parse(stdout) as { agents: { agent: string; pid: number }[] };
  return agents.find((each) => each.agent === agent)?.pid;
}

async function ask(input: string) {
  const { exitCode, stdout } = await about('send', '--input', input, '--wait');
  return { exitCode, stdout };
}

/** Returns the log lines about refused reloads. */
async function refusals(): Promise<{ readonly code: string; readonly reason: string; readonly place?: object }[]> {
  const { stdout } = await about('logs', '--json');
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { event?: string; data?: unknown })
    .filter(({ event }) => event === 'swarm.reload_refused')
    .map(({ data }) => data as { code: string; reason: string; place?: object });
}

beforeAll(async () => {
  await place.write('swarm', {
    'goondan.yaml': bundleWith(''),
    'part.ts': good,
    'other.ts': good,
    'ears.ts': quietEars,
  });
  await place.serve('swarm');
  expect(await ask('hi')).toEqual({ exitCode: 0, stdout: 'You said: hi\n' });
});
afterAll(async () => {
  await gdn('stop', '--bundle', folder, '--grace', '0');
  expect(await place.remove()).toEqual([]);
});

describe('a reload with new parts that do not start', () => {
  test.each([
    ['an agent that runs', { 'part.ts': throws }, /Agent\/host .*Extension\/part.*not today/s, /\(part\.ts:2:\d+\)/],
    [
      'an agent that sleeps',
      { 'other.ts': throws },
      /Agent\/helper .*Extension\/other.*not today/s,
      /\(other\.ts:2:\d+\)/,
    ],
    [
      'an agent that ends as soon as it is ready',
      { 'part.ts': 'export const register = () => void Promise.reject(new Error("not today"));\n' },
      /Agent\/host .*ended with code 1 as soon as it was ready/s,
      /^/,
    ],
    [
      'a connection',
      { 'goondan.yaml': bundleWith(ears), 'ears.ts': 'throw new Error("deaf");' },
      /Connection\/ears .*Connector\/ears: "\.\/ears\.ts".*deaf/s,
      /\(ears\.ts:1:\d+\)/,
    ],
  ])(
    '%s: exit 1 with the reason and its place, the agent keeps its process and answers, nothing is left',
    async (_what, files, reason, at) => {
      const pid = await pidOf('host');
      await place.write('swarm', files);
      const { exitCode, stdout, stderr } = await about('reload');
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      expect(stderr).toMatch(/^E_RELOAD_FAILED: /m);
      expect(stderr).toMatch(reason);
      expect(stderr).toMatch(at);
      expect(await ask('still there?')).toEqual({ exitCode: 0, stdout: 'You said: still there?\n' });
      expect(await pidOf('host')).toBe(pid);
      expect((await refusals()).at(-1)).toEqual({
        code: 'E_RELOAD_FAILED',
        reason: expect.stringMatching(reason),
        ...(at.source === '^'
          ? {}
          : { place: { file: expect.any(String), line: expect.any(Number), column: expect.any(Number) } }),
      });
      expect((await about('logs')).stdout).toMatch(/ (host|helper|ears): On trial: /);
      const [workspace = ''] = readdirSync(join(place.stateRoot, 'workspaces'));
      const run = readdirSync(join(place.stateRoot, 'workspaces', workspace, 'run'));
      expect([...run, ...place.processes()].filter((each) => each.includes('goondan-'))).toEqual([]);
      await place.write('swarm', { 'goondan.yaml': bundleWith(''), 'part.ts': good, 'other.ts': good });
    },
  );

  test('and are then corrected: the reload succeeds, and the running process takes the change', async () => {
    const pid = await pidOf('host');
    const files = { 'goondan.yaml': bundleWith(ears), 'part.ts': corrected, 'ears.ts': quietEars };
    await place.write('swarm', files);
    const { exitCode, stdout } = await about('reload');
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: 'Reloaded: changed Agent/host; added Connection/ears; 2 kept.\nAgent/host\n  updated   Extension/part\n',
    });
    expect(await ask('again')).toEqual({ exitCode: 0, stdout: 'You said: again\n' });
    expect(await pidOf('host')).toBe(pid);
    expect((await about('logs')).stdout).toMatch(/^(?!.*On trial: ).*: corrected$/m);
  });
});

describe('a swarm with an unreadable goondan.yaml', () => {
  beforeAll(() => place.write('swarm', { 'goondan.yaml': '{{{' }));

  test('can be asked, watched, inspected and changed as usual', async () => {
    expect(await ask('hello')).toEqual({ exitCode: 0, stdout: 'You said: hello\n' });
    const commands = [
      ['status'],
      ['logs'],
      ['trace'],
      ['trace', 'last'],
      ['cancel'],
      ['approve'],
      ['deadletter', 'list'],
      ['instance', 'list'],
      ['instance', 'show', 'host', 'default'],
      ['instance', 'export', 'host', 'default', '--output', join(place.folder, 'host.json')],
      ['history', 'host', 'default'],
      ['blame', 'host', 'default'],
      ['fork', 'host', 'default', '--as', 'copy'],
      ['instance', 'delete', 'host', 'copy', '--yes'],
      ['restart'],
    ];
    for (const command of commands) {
      const { exitCode, stderr } = await about(...command);
      expect({ command, exitCode, stderr }).toEqual({ command, exitCode: 0, stderr: '' });
    }
    expect((await about('status')).stdout).toContain('Swarm "default" runs in process');
  });

  test('refuses to reload with exit 4 and every place, and its log has the reason', async () => {
    const notices: SwarmNotice[] = [];
    const swarm = await reachSwarm({ bundle: folder, stateRoot: place.stateRoot });
    const watch = await swarm.watch({ types: ['log'] }, (notice) => void notices.push(notice));
    const { exitCode, stderr } = await about('reload');
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/goondan\.yaml:1:\d+ /);
    expect(stderr).toMatch(/^E_BUNDLE_INVALID: /m);
    expect((await refusals()).at(-1)).toEqual({
      code: 'E_BUNDLE_INVALID',
      reason: expect.stringMatching(/goondan\.yaml:1:\d+ /),
    });
    await until(() => notices.length !== 0);
    watch.end();
    expect(notices).toMatchObject([
      { type: 'log', line: { level: 'error', event: 'swarm.reload_refused', data: { code: 'E_BUNDLE_INVALID' } } },
    ]);
  });

  test('is found through a link; for an unknown name the error lists the known ones', async () => {
    symlinkSync(folder, join(place.folder, 'link'));
    expect(await gdn('status', '--bundle', join(place.folder, 'link'), '--swarm', 'Swarm/default')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('runs in process'),
    });
    expect(await about('status', '--swarm', 'other')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining(`No swarm "other" has run from "${folder}"; these have: default.`),
    });
  });

  test('is stopped by its folder even after that was moved, and can be inspected afterwards', async () => {
    renameSync(folder, join(place.folder, 'moved'));
    expect((await about('reload')).stderr).toContain('E_BUNDLE_MISSING');
    expect((await refusals()).at(-1)).toMatchObject({ code: 'E_BUNDLE_MISSING' });
    expect(await about('stop')).toMatchObject({ exitCode: 0, stdout: 'Stopped.\n' });
    expect(await about('status')).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('is not running') });
    expect(await about('history', 'host', 'default')).toMatchObject({ exitCode: 0 });
  });
});
