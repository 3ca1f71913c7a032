// Tests with real processes: the output and the server of `gdn studio`, and the files it leaves.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { GdnPlace } from '../testing/gdn-place.ts';
import { plantHostileFolder } from '../testing/hostile-folder.ts';
import { sampleBundle, tellTale } from '../testing/sample-bundle.ts';
import type { QuestionSummary } from '@goondan/runtime';
import type { Done, WorkspaceList, WorkspaceView } from '../studio/contract.ts';
import { until } from '../../../../test/until.ts';

// This timeout is long, because processes start one after the other and the machine may be busy.
setDefaultTimeout(120_000);

let place: GdnPlace;
beforeEach(() => void (place = new GdnPlace()));
afterEach(async () => {
  for (const child of running.splice(0)) child.kill();
  if (existsSync(join(place.folder, 'bundle'))) await place.run('stop', '--bundle', 'bundle');
  expect(await place.remove()).toEqual([]);
});
/** The processes that the test started; they are ended even if the test fails. */
const running: ReturnType<GdnPlace['start']>[] = [];

interface RunningStudio {
  readonly url: string;
  readonly origin: string;
  /** Returns the output so far. */
  readonly stdout: () => string;
  readonly stop: (signal: NodeJS.Signals) => Promise<number>;
  readonly get: <Answer>(path: string) => Promise<Answer>;
  readonly post: <Answer>(path: string, body: object) => Promise<Answer>;
}

function startStudio(cwd: string, ...args: string[]): Promise<RunningStudio> {
  return openStudio(place.startWith({ cwd }, 'studio', ...args));
}

async function openStudio(child: ReturnType<GdnPlace['start']>): Promise<RunningStudio> {
  running.push(child);
  let stdout = '';
  void (async () => {
    for await (const chunk of child.stdout) stdout += new TextDecoder().decode(chunk);
  })();
  await until(() => /http:\S+/.test(stdout) && stdout.endsWith('\n'));
  const url = /http:[^\s"]+/.exec(stdout)?.[0] ?? '';
  const { origin } = new URL(url);
  const entered = await fetch(url, { redirect: 'manual' });
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
  const ask = async <Answer>(path: string, init: RequestInit = {}) => {
    const headers = { Cookie: cookie, Origin: origin, 'Content-Type': 'application/json' };
    const response = await fetch(`${origin}${path}`, { ...init, headers, keepalive: false });
    // The cast is safe: the page trusts the contract in the same way.
    return (await response.json()) as Answer;
  };
  return {
    url,
    origin,
    stdout: () => stdout,
    stop(signal) {
      child.kill(signal);
      return child.exited;
    },
    get: (path) => ask(path),
    post: (path, body) => ask(path, { method: 'POST', body: JSON.stringify(body) }),
  };
}

describe('gdn studio', () => {
  test('--json: prints one line with the link, serves the built page until SIGTERM, and leaves nothing', async () => {
    const studio = await startStudio(place.folder, '--json');
    expect(studio.stdout().split('\n')).toHaveLength(2);
    expect(JSON.parse(studio.stdout())).toEqual({
      url: studio.url,
      pid: expect.any(Number),
      stateRoot: place.stateRoot,
    });
    expect(studio.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}$/);
    expect(await studio.get<WorkspaceList>('/api/workspaces')).toMatchObject({ workspaces: [] });
    // The page loads completely.
    const entered = await fetch(studio.url, { redirect: 'manual' });
    const headers = { Cookie: entered.headers.get('set-cookie')?.split(';')[0] ?? '' };
    const page = await (await fetch(studio.origin, { headers })).text();
    const loaded = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
    expect(loaded.length).toBeGreaterThan(0);
    for (const path of loaded) expect((await fetch(new URL(path, studio.origin), { headers })).status).toBe(200);
    expect(existsSync(place.stateRoot)).toBe(false);
    expect(await studio.stop('SIGTERM')).toBe(0);
    expect(await fetch(studio.origin).catch(() => 'gone')).toBe('gone');
  });

  test('in words: prints its address and how to end it; Ctrl-C exits with 130, even with an open stream', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle() });
    const studio = await startStudio(join(place.folder, 'bundle'));
    expect(studio.stdout()).toBe(
      `Studio, with swarm "default", is at ${studio.url}\nAnyone with this link can talk to your swarms. Ctrl-C ends it.\n`,
    );
    const { opened } = await studio.get<WorkspaceList>('/api/workspaces');
    expect(opened?.swarm).toBe('default');
    const entered = await fetch(studio.url, { redirect: 'manual' });
    const headers = { Cookie: entered.headers.get('set-cookie')?.split(';')[0] ?? '' };
    const events = new URL(`/api/workspaces/${opened?.workspaceId ?? ''}/events`, studio.origin.replace('http', 'ws'));
    const stream = new WebSocket(events, { headers: { ...headers, Origin: studio.origin } });
    const closed = new Promise((resolve) => stream.addEventListener('close', resolve));
    await new Promise((resolve) => stream.addEventListener('message', resolve, { once: true }));
    expect(await studio.stop('SIGINT')).toBe(130);
    await closed;
  });

  test.each(['0.0.0.0', '::', '192.168.0.1', 'example.com'])('--host %s is refused', async (host) => {
    const { stdout, stderr, exitCode } = await place.run('studio', '--host', host, '--json');
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
    const { error } = JSON.parse(stderr);
    expect(error.code).toBe('E_USAGE');
    expect(error.message).toContain('Studio listens on this machine only; from another one, use an SSH tunnel.');
  });

  test('a port that is taken is refused with a code', async () => {
    const taken = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() });
    try {
      const { stdout, stderr, exitCode } = await place.run('studio', '--port', String(taken.port));
      expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 3 });
      expect(stderr).toStartWith(`E_STUDIO_PORT: Studio cannot listen on port ${taken.port}`);
    } finally {
      await taken.stop(true);
    }
  });

  test('a bundle in the current folder with an unclear swarm is reported, and does not stop Studio', async () => {
    const folder = await place.write('bundle', { 'goondan.yaml': 'kind: [' });
    const child = place.startWith({ cwd: folder }, 'studio', '--json');
    const studio = await openStudio(child);
    expect(await studio.get<WorkspaceList>('/api/workspaces')).not.toHaveProperty('opened');
    await studio.stop('SIGTERM');
    expect(await child.stderr.text()).toStartWith(
      'The swarm of the bundle in this folder is not opened. E_BUNDLE_INVALID',
    );
  });
});

describe('with a bundle', () => {
  test('none of its code runs, whether it is valid or not', async () => {
    const mark = join(place.folder, 'mark');
    const { agent, more, module } = tellTale;
    const folder = await place.write('bundle', {
      'goondan.yaml': sampleBundle({ agent, more }),
      'tell-tale.ts': module(mark),
    });
    const studio = await startStudio(place.folder, folder, '--json');
    const { opened } = await studio.get<WorkspaceList>('/api/workspaces');
    const view = await studio.get<WorkspaceView>(`/api/workspaces/${opened?.workspaceId ?? ''}`);
    expect(view.agents).toMatchObject([{ name: 'host', extensions: ['tell-tale'], layers: [] }]);
    await studio.stop('SIGTERM');
    expect(existsSync(mark)).toBe(false);

    for (const kind of ['invalid', 'armed'] as const) {
      const hostile = await plantHostileFolder(place, kind);
      const inside = await startStudio(hostile.folder, '--json');
      const list = await inside.get<WorkspaceList>('/api/workspaces');
      if (list.opened !== undefined) await inside.get(`/api/workspaces/${list.opened.workspaceId}`);
      await inside.stop('SIGTERM');
      expect(hostile.takeMarks()).toEqual([]);
    }
  });
});

describe('gdn demo --studio', () => {
  test('runs the demo in Studio, where a person answers its question; Ctrl-C leaves nothing', async () => {
    const temporary = join(place.folder, 'temporary');
    mkdirSync(temporary);
    const args = ['demo', '--studio', '--json', '--input', 'Book a picnic in Lisbon'];
    // If the path of the temporary folder is too long for a socket, the socket is in a folder that stays.
    const env = { TMPDIR: temporary, XDG_RUNTIME_DIR: place.folder };
    const studio = await openStudio(place.startWith({ env }, ...args));
    expect(JSON.parse(studio.stdout())).toMatchObject({ stateRoot: expect.stringContaining(temporary) });
    const { opened, workspaces } = await studio.get<WorkspaceList>('/api/workspaces');
    expect(opened?.swarm).toBe('demo');
    expect(workspaces).toMatchObject([{ workspaceId: opened?.workspaceId, isRunning: true }]);
    const at = `/api/workspaces/${opened?.workspaceId ?? ''}`;
    let asked: readonly QuestionSummary[] = [];
    await until(async () => (asked = (await studio.get<WorkspaceView>(at)).questions).length > 0);
    expect(asked).toMatchObject([{ toolName: 'picnic__book' }]);
    const answer = { id: asked[0]?.id, digest: asked[0]?.digest, decision: 'approved' };
    expect(await studio.post<Done>(`${at}/answer`, answer)).toEqual({ done: true });
    await until(async () => (await studio.get<WorkspaceView>(at)).questions.length === 0);
    expect(await studio.stop('SIGINT')).toBe(130);
    expect(readdirSync(temporary)).toEqual([]);
    expect(existsSync(place.stateRoot)).toBe(false);
  });

  test('demo --studio --no-open starts no browser', async () => {
    const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
    await place.write('programs', { [opener]: `#!/bin/sh\ntouch '${place.folder}/opened'\n` });
    chmodSync(join(place.folder, 'programs', opener), 0o755);
    const PATH = `${join(place.folder, 'programs')}${delimiter}${process.env['PATH']}`;
    const env = { DISPLAY: ':0', PATH, TMPDIR: place.folder };
    const typing = [{ whenSeen: 'Ctrl-C ends it.', keys: '\x03' }];
    const { screen, exitCode } = await place.runOnTerminal(['demo', '--studio', '--no-open'], typing, { env });
    expect(screen).toMatch(/^Studio, with swarm "demo", is at http:/m);
    expect(exitCode).toBe(130);
    expect(existsSync(join(place.folder, 'opened'))).toBe(false);
  });
});
