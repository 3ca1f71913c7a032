// Tests with real processes: `gdn doctor` as npm installs it, on fake systems that have only a few programs.
import { expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Check } from '../doctor/check.ts';
import { openPlace } from '../testing/open-place.ts';
import { sampleBundle, tellTale } from '../testing/sample-bundle.ts';

const place = openPlace();

const noKeys = { ANTHROPIC_API_KEY: '', OPENAI_API_KEY: '', GOOGLE_GENERATIVE_AI_API_KEY: '' };

/** Creates a PATH with only these programs: the given shell scripts, and the real Node, which the launcher needs. */
async function programs(scripts: Readonly<Record<string, string>>): Promise<string> {
  const folder = mkdtempSync(join(place.folder, 'programs-'));
  symlinkSync(Bun.which('node') ?? '', join(folder, 'node'));
  for (const [name, script] of Object.entries(scripts)) {
    await Bun.write(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

/** Examines a system with the programs of `env`, or without any: to ask the real npm for its version takes long. */
async function examine(env: Record<string, string>, ...args: string[]) {
  const all = 'PATH' in env ? env : { ...env, PATH: await programs({}) };
  const { stdout, stderr, exitCode } = await place.runProcessWith({ env: all }, 'doctor', '--json', ...args);
  const { healthy, checks }: { healthy: boolean; checks: Check[] } = JSON.parse(stdout);
  return { healthy, exitCode, stdout, stderr, of: (name: string) => checks.find((check) => check.name === name) };
}

test('with everything installed: ok, exit 0, and nothing is created', async () => {
  const PATH = await programs({
    npm: 'echo 11.0.0',
    git: 'echo git version 2.50.0',
    bwrap: 'echo bubblewrap 0.11.0',
  });
  const { of, healthy, exitCode, stderr } = await examine({ ...noKeys, PATH, OPENAI_API_KEY: 'sk-x' });
  expect({ healthy, exitCode, stderr }).toEqual({ healthy: true, exitCode: 0, stderr: '' });
  expect(of('Node')).toEqual({ name: 'Node', status: 'ok', detail: expect.stringMatching(/^v\d+\./) });
  expect(of('Bun')).toEqual({ name: 'Bun', status: 'ok', detail: Bun.version });
  expect(of('npm')?.detail).toBe('11.0.0');
  expect(of('git')?.detail).toBe('2.50.0');
  expect(of('bubblewrap')).toEqual({ name: 'bubblewrap', status: 'ok', detail: '0.11.0, and it works' });
  expect(of('processes')?.status).toBe('ok');
  expect(of('agent programs')?.status).not.toBe('missing');
  expect(of('state root')).toMatchObject({ status: 'ok', detail: expect.stringContaining('made at the first run') });
  expect(of('swarm')?.detail).toBe('no bundle in this folder');
  expect(existsSync(place.stateRoot)).toBe(false);
});

test('optional programs that are missing: a warning with a suggestion, exit 0', async () => {
  const PATH = await programs({});
  const { of, healthy, exitCode } = await examine({ ...noKeys, PATH });
  expect({ healthy, exitCode }).toEqual({ healthy: true, exitCode: 0 });
  for (const name of ['npm', 'git', 'bubblewrap', 'keys']) {
    expect(of(name)).toMatchObject({ status: 'warning', suggestion: expect.any(String) });
  }
  expect(of('bubblewrap')?.detail).toContain('unsandboxed');
});

test('telemetry: off, accepted, unreachable, and misconfigured; never missing', async () => {
  const PATH = await programs({});
  const heard: unknown[] = [];
  const collector = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      heard.push(new URL(request.url).pathname, request.headers.get('api-key'), await request.json());
      return Response.json({});
    },
  });
  const url = `http://127.0.0.1:${collector.port}`;
  const of = async (env: Record<string, string>) => (await examine({ PATH, ...env })).of('telemetry');
  try {
    expect(await of({})).toEqual({
      name: 'telemetry',
      status: 'ok',
      detail: 'off: no OTEL_EXPORTER_OTLP_ENDPOINT is set',
    });
    const key = { OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a-key-of-the-collector' };
    const on = await examine({ PATH, OTEL_EXPORTER_OTLP_ENDPOINT: url, ...key });
    expect(on.of('telemetry')).toMatchObject({
      status: 'ok',
      detail: `spans go to ${url}/v1/traces, which accepts them`,
    });
    expect(on.stdout).not.toContain('a-key-of-the-collector');
    expect(heard).toEqual(['/v1/traces', 'a-key-of-the-collector', { resourceSpans: [] }]);
  } finally {
    await collector.stop(true);
  }
  const gone = await examine({ PATH, OTEL_EXPORTER_OTLP_ENDPOINT: url });
  expect(gone).toMatchObject({ healthy: true, exitCode: 0 });
  expect(gone.of('telemetry')).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('accepts no spans'),
  });
  expect(await of({ OTEL_EXPORTER_OTLP_ENDPOINT: 'nowhere' })).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('is not a URL'),
  });
});

test('bubblewrap that is installed but may not run is told apart from a working one', async () => {
  const bwrap = 'test "$1" = --version && echo bubblewrap 0.11.0 || { echo "bwrap: No permissions" >&2; exit 1; }';
  const { of } = await examine({ PATH: await programs({ bwrap }) });
  expect(of('bubblewrap')).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('does not work (bwrap: No permissions)'),
    suggestion: expect.stringContaining('user namespaces'),
  });
});

test('an impossible state root: missing, exit 3', async () => {
  const file = join(await place.write('', { file: 'no folder' }), 'file');
  const { of, healthy, exitCode } = await examine({}, '--state-root', join(file, 'state'));
  expect({ healthy, exitCode }).toEqual({ healthy: false, exitCode: 3 });
  expect(of('state root')).toMatchObject({ status: 'missing', suggestion: expect.stringContaining('--state-root') });
});

test('an existing state root is tried, and left unchanged', async () => {
  mkdirSync(place.stateRoot);
  const { of } = await examine({});
  expect(of('state root')).toMatchObject({ status: 'ok', detail: expect.not.stringContaining('first run') });
  expect(readdirSync(place.stateRoot)).toEqual([]);
});

test('keys are named, never shown', async () => {
  const { of, stdout } = await examine({ ...noKeys, ANTHROPIC_API_KEY: 'sk-very-secret' });
  expect(of('keys')).toEqual({ name: 'keys', status: 'ok', detail: 'set: ANTHROPIC_API_KEY' });
  expect(stdout).not.toContain('sk-very-secret');
});

test('shows whether the swarm of the bundle runs, and runs none of its code', async () => {
  const mark = join(place.folder, 'mark');
  await place.write('bundle', { 'goondan.yaml': sampleBundle(tellTale), 'tell-tale.ts': tellTale.module(mark) });
  expect((await examine({}, '--bundle', 'bundle')).of('swarm')?.detail).toBe('"default" is not running');
  expect(existsSync(mark)).toBe(false);
  await place.serve('bundle');
  expect((await examine({}, '--bundle', 'bundle')).of('swarm')?.detail).toStartWith(
    `"default" runs in process ${process.pid}`,
  );
  expect((await place.run('stop', '--bundle', 'bundle')).exitCode).toBe(0);
});

test('for people: a line for each check, its suggestion below, and a summary', async () => {
  const { stdout, exitCode } = await place.runProcessWith({ env: { ...noKeys, PATH: await programs({}) } }, 'doctor');
  expect(stdout).toMatch(/^ok +Node +v\d+/);
  expect(stdout).toMatch(/\nwarning +git +not found\n +Install git/);
  expect(stdout).toMatch(/\n\nReady, with \d warnings\.\n$/);
  expect(exitCode).toBe(0);
});
