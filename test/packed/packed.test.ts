// What is published, as npm packs it: nothing is missing, nothing stray is in it, and it works in an empty project
// outside of this repository.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { repository } from '../read-repository.ts';
import { type PackedPackage, packPackages } from './pack-packages.ts';
import { importsOf, packageOf, traceFiles } from './trace-files.ts';

// Bun itself is unpacked, on a machine that may be busy.
setDefaultTimeout(300_000);

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'goondan-packed-')));
const project = join(folder, 'project');
let packed: readonly PackedPackage[] = [];
beforeAll(async () => {
  packed = await packPackages(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const names = ['@goondan/types', '@goondan/core', '@goondan/runtime', '@goondan/base', '@goondan/cli'];

/** What is run, or read, by its place and not by an import: the sources of what is in `dist`, and a process of its own. */
const programs = [
  'src/agent/main.ts',
  'src/connector/main.ts',
  'src/main.ts',
  'src/run/detached-main.ts',
  'src/index.ts',
];

test('all packages are packed, under one version', () => {
  expect(packed.map(({ name }) => name)).toEqual(names);
  expect(new Set(packed.map(({ version }) => version)).size).toBe(1);
});

describe.each(names)('the tarball of %s', (name) => {
  const open = () => {
    const found = packed.find((each) => each.name === name);
    if (found === undefined) throw new Error(`${name} was not packed`);
    const read = (path: string) => readFileSync(join(repository, found.folder, path), 'utf8');
    return { ...found, read, manifest: JSON.parse(read('package.json')), paths: found.files.map(({ path }) => path) };
  };

  test('has what people look for first, and its licence is that of the repository', () => {
    const { paths, manifest, read } = open();
    expect(paths).toContain('README.md');
    expect(read('LICENSE')).toBe(readFileSync(join(repository, 'LICENSE'), 'utf8'));
    expect(paths).toContain('LICENSE');
    for (const field of ['description', 'license', 'keywords', 'files']) expect(manifest).toHaveProperty(field);
  });

  test('has no script that would run when it is installed', () => {
    const { manifest } = open();
    const scripts = Object.keys(manifest.scripts ?? {});
    expect(scripts.filter((each) => /^(pre|post)?(install|prepare)$/.test(each))).toEqual([]);
  });

  test('holds what is needed and nothing else', () => {
    const { paths, manifest, read } = open();
    const files = new Set(paths);
    const start = ['package.json', ...programs, ...paths.filter((path) => /^(bin|demo)\/|^[\w-]+\.yaml$/.test(path))];
    const needed = traceFiles(start, files, read);
    const sources = paths.filter((path) => /\.tsx?$/.test(path) && path.startsWith('src/'));
    expect(sources.filter((path) => !needed.has(path))).toEqual([]);
    const others = paths.filter((path) => !sources.includes(path));
    const known =
      /^(package\.json|README\.md|LICENSE|[\w-]+\.yaml|(bin|demo|templates)\/.+|schema\/goondan\.schema\.json|dist\/(agent|connector)-runner[\w-]*\.js(\.jsc)?|dist\/gdn\/(licenses\.txt|(main|detached-main|gdn-\w+)\.js)|dist\/studio\/(index\.html|[\w-]+-[a-z0-9]{8,}\.\w+))$/;
    expect(others.filter((path) => !known.test(path))).toEqual([]);
    expect(paths.filter((path) => /\.test\.|\.log$|\.tgz$|(^|\/)\./.test(path))).toEqual([]);
    for (const path of Object.values<string>({ ...manifest.exports, ...manifest.bin })) {
      expect(paths).toContain(posix.normalize(path));
    }
  });

  test('imports nothing that is left out, and no package that it does not depend on', () => {
    const { paths, manifest, read } = open();
    const modules = paths.filter((path) => /\.(ts|mjs)$/.test(path) && !path.startsWith('templates/'));
    const imports = modules.flatMap((from) => importsOf(read(from)).map((what) => ({ from, what })));
    const isOurs = ({ what }: { what: string }) => what.startsWith('.');
    expect(
      imports.filter(isOurs).filter(({ from, what }) => !paths.includes(posix.join(posix.dirname(from), what))),
    ).toEqual([]);
    const allowed = [...Object.keys(manifest.dependencies ?? {}), 'bun', name];
    const bare = imports.filter((each) => !isOurs(each) && !/^(node|bun):/.test(each.what));
    expect(bare.filter(({ what }) => !allowed.includes(packageOf(what)))).toEqual([]);
  });
});

test('gdn can be executed', () => {
  const cli = packed.find(({ name }) => name === '@goondan/cli');
  expect(cli?.files.find(({ path }) => path === 'bin/gdn.mjs')?.mode).toBe(0o755);
});

describe('in an empty project', () => {
  beforeAll(async () => {
    await Bun.write(join(project, 'package.json'), '{ "private": true, "type": "module" }\n');
    const tarballs = packed.map(({ tarball }) => tarball);
    const install = ['npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts', ...tarballs];
    // Whatever was fetched before comes from npm's cache; what was not, from wherever npm gets its packages.
    const { exitCode } = await run(...install, '--offline');
    if (exitCode !== 0) expect(await run(...install, '--prefer-offline')).toMatchObject({ exitCode: 0 });
  });

  test('npx gdn: version, init, validate, run, demo, doctor', async () => {
    expect((await gdn('--version')).stdout).toBe(`${packed[0]?.version}\n`);
    expect(await gdn('init', 'my-swarm', '--no-git')).toMatchObject({ exitCode: 0 });
    const [, schema = ''] =
      /\$schema=(\S+)/.exec(readFileSync(join(project, 'my-swarm', 'goondan.yaml'), 'utf8')) ?? [];
    expect(existsSync(join(project, 'my-swarm', schema))).toBe(true);
    expect(await gdn('validate', 'my-swarm')).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('E_') });
    const answered = await gdn('run', 'my-swarm', '--trust', '--input', 'hello', '--json');
    expect(JSON.parse(answered.stdout)).toMatchObject({
      response: expect.stringContaining('You said: hello'),
      finishReason: 'text_response',
    });
    expect((await gdn('demo')).stdout).toMatch(/Seoul, the next 3 days.+turn concierge .+turn forecaster /s);
    const { checks } = JSON.parse((await gdn('doctor', '--json')).stdout);
    expect(checks).toContainEqual(expect.objectContaining({ name: 'agent programs', status: 'ok' }));
  });

  test('npx gdn studio: the page is there, with all that it loads', async () => {
    const child = Bun.spawn(['npx', 'gdn', 'studio', '--json'], {
      ...surroundings(),
      stdout: 'pipe',
      stderr: 'ignore',
    });
    try {
      const { value } = await child.stdout.getReader().read();
      const { url, pid } = JSON.parse(new TextDecoder().decode(value));
      const entered = await fetch(url, { redirect: 'manual' });
      const headers = { Cookie: entered.headers.get('set-cookie')?.split(';')[0] ?? '' };
      const page = await (await fetch(new URL('/', url), { headers })).text();
      const loaded = [...page.matchAll(/(?:src|href)="(\.[^"]+)"/g)].map(([, path = '']) => path);
      expect(loaded.length).toBeGreaterThan(0);
      for (const path of loaded) expect((await fetch(new URL(path, url), { headers })).status).toBe(200);
      const list = await (await fetch(new URL('/api/workspaces', url), { headers })).json();
      expect(list).toMatchObject({ version: packed[0]?.version, workspaces: expect.any(Array) });
      process.kill(pid, 'SIGTERM');
      expect(await child.exited).toBe(0);
    } finally {
      child.kill();
    }
  });

  test('the swarm of the demo, written by gdn init', async () => {
    expect(await gdn('init', 'my-demo', '--template', 'demo', '--no-git')).toMatchObject({ exitCode: 0 });
    const validated = await gdn('validate', 'my-demo', '--json');
    expect(JSON.parse(validated.stdout)).toEqual({ valid: true, errors: [], warnings: [] });
    const answered = await gdn('run', 'my-demo', '--trust', '--input', 'What is the weather in Seoul?', '--json');
    expect(JSON.parse(answered.stdout)).toMatchObject({ agent: 'concierge', response: 'Seoul, tomorrow: 12 °C.' });
  });

  test('a tool of the bundle, and one of the base library', async () => {
    const time = await gdn('run', 'my-swarm', '--trust', '--input', 'What time is it in Asia/Seoul?', '--json');
    expect(JSON.parse(time.stdout)).toMatchObject({ steps: 2, finishReason: 'text_response' });
    await Bun.write(join(project, 'with-base', 'goondan.yaml'), withBase);
    const listed = await gdn('package', 'list', '--bundle', 'with-base', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject([{ name: '@goondan/base', valid: true, used: true }]);
    const shell = await gdn('run', 'with-base', '--trust', '--input', 'Go', '--json');
    expect(JSON.parse(shell.stdout)).toMatchObject({ steps: 2, response: expect.stringContaining('it works') });
  });

  test('a TypeScript program that imports the runtime, the testing kit, the types and their alias', async () => {
    await Bun.write(join(project, 'start.ts'), program);
    const { stdout: bun } = await run('node', '--input-type=module', '--eval', whichBun);
    const { stdout, stderr, exitCode } = await run(bun, 'start.ts');
    expect({ stdout, exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({
      stdout: 'You said: hello. I am a script; ask me what time it is in Asia/Seoul.\nkit: Hi\ntrue\n',
      exitCode: 0,
      stderr: '',
    });
  });
});

const program = `import { createUserMessage } from '@goondan/types';
import { createUserMessage as alias } from '@goondan/core';
import { loadBundle, resolveSwarm, startSwarm, textOf } from '@goondan/runtime';
import { scriptedAgent } from '@goondan/runtime/testing';

const bundle = await loadBundle('my-swarm', { environment: process.env });
const { plan } = resolveSwarm(bundle, { environment: process.env });
const swarm = await startSwarm({ ...plan, stateRoot: process.env.GOONDAN_STATE_ROOT, bundleFolder: bundle.folder });
const { result } = await swarm.ask({ input: 'hello', instanceKey: 'library' });
console.log(textOf(result.responseMessage));
await swarm.stop();

const agent = await scriptedAgent({ script: [{ say: 'kit: {{input}}' }] });
console.log((await agent.say('Hi')).text);
await agent.close();
console.log(alias === createUserMessage);
`;

/** The one that came with `gdn`: `npx bun` needs a script of its package to have run. */
const whichBun = `import { findBun } from './node_modules/@goondan/cli/bin/find-bun.mjs';
process.stdout.write(findBun(process.cwd() + '/package.json') ?? '');`;

const withBase = [
  `kind: Model
metadata: { name: scripted }
spec:
  provider: scripted
  model: demo
  options:
    script:
      - { when: Go, call: { tool: bash__exec, args: { command: echo it works } } }
      - { afterTool: bash__exec, say: '{{result}}' }`,
  `kind: Agent
metadata: { name: host }
spec:
  modelConfig: { modelRef: Model/scripted }
  tools: [{ kind: Tool, name: bash, package: '@goondan/base' }]`,
  `kind: Swarm
metadata: { name: default }
spec: { entryAgent: Agent/host, agents: [Agent/host] }`,
]
  .map((text) => `apiVersion: goondan.ai/v1\n${text}\n`)
  .join('---\n');

const gdn = (...args: string[]) => run('npx', 'gdn', ...args);

/** In the project, with a state of its own. */
function surroundings() {
  const env = { ...process.env, GOONDAN_STATE_ROOT: join(folder, 'state'), NO_COLOR: '1' };
  return { cwd: project, env, stdin: 'ignore' } as const;
}

async function run(...command: string[]) {
  const child = Bun.spawn(command, { ...surroundings(), stdout: 'pipe', stderr: 'pipe' });
  const [stdout, stderr, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, exitCode };
}
