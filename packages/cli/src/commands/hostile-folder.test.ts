// Tests with real processes: `gdn` runs in a folder that was made to do harm, or gets such a folder as an argument.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sampledCases, sampleStep } from '../../../../test/samples.ts';
import { GdnPlace } from '../testing/gdn-place.ts';
import { openPlace } from '../testing/open-place.ts';
import { type HostileFolder, plantedPrograms, plantHostileFolder } from '../testing/hostile-folder.ts';
import { sampleBundle, tellTale } from '../testing/sample-bundle.ts';

const place = openPlace();

describe('the folder itself', () => {
  test('every part leaves a mark when it runs', async () => {
    const { folder, takeMarks } = await plantHostileFolder(place, 'invalid');
    const bun = (...args: string[]) => Bun.spawn([process.execPath, ...args], { cwd: folder, stdio }).exited;
    expect(takeMarks()).toEqual([]);
    const unmapped = '--tsconfig-override=/dev/null';
    await bun(unmapped, '-e', '0');
    expect(takeMarks()).toEqual(['preload']);
    await bun('--config=/dev/null', '/nowhere.ts');
    expect(takeMarks()).toEqual(['tsconfig-paths']);
    await Bun.spawn(['npm', 'run', 'gdn'], { cwd: folder, stdio }).exited;
    expect(takeMarks()).toEqual(['npm-shell']);
    await Bun.spawn(['sh', '-c', 'git init && git add proto.yaml'], { cwd: folder, stdio }).exited;
    expect(takeMarks()).toContain('gdn');
    for (const name of plantedPrograms) await Bun.spawn([join(folder, 'node_modules/.bin', name)], { stdio }).exited;
    expect(takeMarks()).toEqual(plantedPrograms.map((name) => `bin-${name}`).toSorted());

    await place.write('node_modules/not-installed-anywhere', { 'index.js': '' });
    for (const file of ['link.ts', 'missing.ts', 'entry.ts', 'gdn.ts', 'node_modules/commander/index.js']) {
      await bun('--config=/dev/null', unmapped, join(folder, file));
    }
    expect(takeMarks()).toEqual(['entry', 'gdn.ts', 'macro', 'missing', 'outside', 'package']);
  });
});

const stdio: ['ignore', 'ignore', 'ignore'] = ['ignore', 'ignore', 'ignore'];

describe('gdn validate', () => {
  const problems = [
    'goondan.yaml:4:16 E_PATH_OUTSIDE',
    'goondan.yaml:9:16 E_PATH_OUTSIDE',
    'goondan.yaml:14:16 E_EXT_LOAD',
    'bomb.yaml:6:10 E_YAML_LIMIT',
    'deep.yaml:1:73 E_YAML_LIMIT',
    'proto.yaml:6:3 E_YAML_KEY',
  ];
  const warnings = [
    '.env:1:1 E_ENV_FILE',
    '.env:2:1 E_ENV_FILE',
    '.env:3:1 E_ENV_FILE',
    'bunfig.toml:1:1 E_BUNFIG_REFUSED',
  ];

  test('R-04 --json: names each problem with its place, runs none of the code, exit 4', async () => {
    const { folder, takeMarks } = await plantHostileFolder(place, 'invalid');
    for (const [cwd, ...args] of [[place.folder, folder], [folder]]) {
      const typed = ['validate', ...args, '--json'];
      const { stdout, stderr, exitCode } = await place.runProcessWith({ cwd: cwd ?? '' }, ...typed);
      const said: { valid: boolean; errors: Problem[]; warnings: Problem[] } = JSON.parse(stdout);
      expect(said.valid).toBe(false);
      expect(said.errors.map(({ file, line, column, code }) => `${file}:${line}:${column} ${code}`)).toEqual(problems);
      expect(said.warnings.map(({ file, line, column, code }) => `${file}:${line}:${column} ${code}`)).toEqual(
        warnings,
      );
      expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 4 });
    }
    expect(takeMarks()).toEqual([]);
  });

  test('R-04 in words: the same, with a suggestion for each', async () => {
    const { folder, takeMarks } = await plantHostileFolder(place, 'invalid');
    for (const [cwd, prefix, ...args] of [
      [place.folder, 'invalid/', 'invalid'],
      [folder, ''],
    ]) {
      const { stdout, stderr, exitCode } = await place.runWith({ cwd: cwd ?? '' }, 'validate', ...args);
      const lines = stdout.trimEnd().split('\n');
      const places = lines.flatMap((line) => /^(\S+:\d+:\d+ (?:warning )?E_\w+) /.exec(line)?.[1] ?? []);
      expect(places).toEqual([
        ...problems.map((problem) => `${prefix}${problem}`),
        ...warnings.map((warning) => `${prefix}${warning.replace(' ', ' warning ')}`),
      ]);
      expect(lines.filter((line) => /^ {4}\S/.test(line))).toHaveLength(places.length);
      expect(lines.at(-1)).toBe(`${folder}: 5 resources, 6 errors and 4 warnings.`);
      expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 4 });
    }
    expect(takeMarks()).toEqual([]);
  });
});

interface Problem {
  readonly code: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Commands with their exit codes in a folder with valid YAML, and for some commands also in a folder with errors. */
const commands: readonly (readonly [line: string, armed: number, invalid?: number])[] = [
  ['run --input hello', 3, 4],
  ['run --input hello --json', 3],
  ['run --detach', 3, 4],
  ['run --watch', 3],
  ['run', 3, 4],
  ['validate', 0, 4],
  ['explain', 0, 4],
  ['explain --load', 3, 4],
  ['doctor', 0, 0],
  ['init', 3, 3],
  ['init --no-git sub/folder', 0, 0],
  ['status', 0, 4],
  ['instance list', 0, 4],
  ['instance show host default', 3],
  ['instance export host default', 3],
  ['instance delete host default --yes', 3],
  ['logs', 0, 4],
  ['logs -f', 3],
  ['send --input hello', 3],
  ['approve', 3],
  ['cancel', 3],
  ['reload', 3],
  ['restart', 3],
  ['deadletter list', 0],
  ['stop', 3],
  ['mcp list', 0],
  ['demo', 0],
  ['--help', 0],
];

describe.each(['armed', 'invalid'] as const)('without trust, in the folder (%s)', (kind) => {
  const codes = commands.flatMap(([line, ...each]) => {
    const code = each[kind === 'armed' ? 0 : 1];
    return code === undefined ? [] : [{ line, code }];
  });

  // One folder for all commands, because none of them may change what is planted in it.
  const shared = new GdnPlace();
  let hostile: HostileFolder;
  beforeAll(async () => void (hostile = await plantHostileFolder(shared, kind)));
  afterAll(async () => expect(await shared.remove()).toEqual([]));

  test.each(codes)('gdn $line: none of it runs', async ({ line, code }) => {
    // Every process of `gdn` starts in the same way, whatever its command, so a twelfth of them is enough for `npm test`.
    const isProcess = sampleStep === 1 || codes.findIndex((each) => each.line === line) % 12 === 0;
    const run = isProcess ? shared.runProcessWith.bind(shared) : shared.runWith.bind(shared);
    const { stderr, exitCode } = await run({ cwd: hostile.folder }, ...line.split(' '));
    expect(stderr).not.toMatch(/^\s+at .*:\d+/m);
    expect({ exitCode, stderr }).toEqual({ exitCode: code, stderr });
    expect(hostile.takeMarks()).toEqual([]);
    expect(existsSync(join(shared.stateRoot, 'trusted'))).toBe(false);
  });
});

describe('at a terminal', () => {
  const answers: [string, string, number, string][] = [
    ['no', 'n\r', 3, 'E_UNTRUSTED: Nothing of '],
    ['nothing', '\r', 3, 'E_UNTRUSTED: Nothing of '],
    ['Ctrl-C', '\x03', 130, 'E_CANCELLED: '],
    ['the end of input', '\x04', 3, 'E_UNTRUSTED: Nothing of '],
  ];
  test.each([...sampledCases(answers, 2)])('%s as the answer: none of it runs', async (_name, keys, code, said) => {
    const { folder, takeMarks } = await plantHostileFolder(place, 'armed');
    const { screen, exitCode } = await place.runOnTerminal(
      ['run', '--input', 'hello'],
      [{ whenSeen: '[y/N] ', keys }],
      { cwd: folder },
    );
    expect(screen).toContain(`The code in ${folder} is not trusted yet.`);
    expect(screen).toContain(`\n${said}`);
    expect(existsSync(join(place.stateRoot, 'trusted'))).toBe(false);
    expect({ exitCode, marks: takeMarks() }).toEqual({ exitCode: code, marks: [] });
  });
});

describe('with trust', () => {
  test('its own code runs, and no other planted part, in any process', async () => {
    const { folder, takeMarks } = await plantHostileFolder(place, 'armed');
    const gdn = (...args: string[]) => place.runWith({ cwd: folder }, ...args);
    const run = await place.runProcessWith({ cwd: folder }, 'run', '--trust', '--detach', '--json');
    const { pid }: { pid: number } = JSON.parse(run.stdout);
    expect((await gdn('send', '--input', 'hello', '--wait')).stdout).toBe('You said: hello\n');
    const { agents }: { agents: { pid: number }[] } = JSON.parse((await gdn('status', '--json')).stdout);
    expect(agents).toHaveLength(1);
    const pids = [pid, ...agents.map((agent) => agent.pid), ...place.processes().map((line) => Number.parseInt(line))];
    for (const each of new Set(pids)) {
      const environment = readFileSync(`/proc/${each}/environ`, 'utf8').split('\0');
      expect(environment).toContain(`PATH=${process.env['PATH']}`);
      expect(environment.filter((entry) => /^(ANTHROPIC_BASE_URL|BUN_OPTIONS)=/.test(entry))).toEqual([]);
    }
    expect((await gdn('stop')).exitCode).toBe(0);
    expect(takeMarks()).toEqual(['entry', 'macro', 'tool']);
  });

  test('its .env does not decide where requests go', async () => {
    using elsewhere = listenForRequests();
    using proxy = listenForRequests();
    const { folder } = await plantHostileFolder(place, 'armed');
    await place.write('armed', {
      'goondan.yaml': anthropicBundle,
      '.env': `ANTHROPIC_BASE_URL=${elsewhere.url}\nHTTPS_PROXY=${elsewhere.url}\nANTHROPIC_API_KEY=key-of-the-folder\n`,
    });
    // The proxy refuses all requests, so nothing leaves this machine.
    const env = { ...noProxies, HTTPS_PROXY: proxy.url, ANTHROPIC_BASE_URL: undefined, ANTHROPIC_API_KEY: undefined };
    const { stderr, exitCode } = await place.runProcessWith({ cwd: folder, env }, 'run', '--trust', '--input', 'hello');
    expect(stderr).toContain('E_MODEL_FAILED: ');
    expect(exitCode).toBe(1);
    expect(proxy.requests).toEqual(['CONNECT api.anthropic.com:443 HTTP/1.1']);
    expect(elsewhere.requests).toEqual([]);

    using chosen = listenForRequests();
    const mine = { ...noProxies, ANTHROPIC_BASE_URL: chosen.url };
    await place.runWith({ cwd: folder, env: mine }, 'run', '--trust', '--input', 'hello');
    expect(chosen.requests).toEqual(['POST /v1/messages HTTP/1.1']);
    expect(elsewhere.requests).toEqual([]);
  });

  test('files that an agent leaves in its working folder do not become its program', async () => {
    const mark = join(place.folder, 'mark');
    const module = `
      import { writeFileSync } from 'node:fs';
      export const register = () => {
        writeFileSync('mapped.ts', ${JSON.stringify(`require('node:fs').writeFileSync('${mark}', '');`)});
        writeFileSync('tsconfig.json', '{ "compilerOptions": { "paths": { "/*": ["./mapped.ts"] } } }');
        writeFileSync('package.json', '{ "nonsense');
      };`;
    // The agent has its own environment. So it cannot use the spare process, which was started with another
    // environment.
    const agent = `${tellTale.agent}\nenvironment: { CITY: Seoul }`;
    await place.write('bundle', { 'goondan.yaml': sampleBundle({ ...tellTale, agent }), 'tell-tale.ts': module });
    const run = () => place.run('run', 'bundle', '--trust', '--input', 'hello');
    for (const _ of [1, 2]) expect(await run()).toEqual({ stdout: 'You said: hello\n', stderr: '', exitCode: 0 });
    const [scratch = ''] = new Bun.Glob('workspaces/*/instances/*/scratch/tsconfig.json').scanSync(place.stateRoot);
    expect(scratch).not.toBe('');
    expect(existsSync(mark)).toBe(false);
    await Bun.spawn([process.execPath, '/nowhere.ts'], { cwd: join(place.stateRoot, scratch, '..'), stdio }).exited;
    expect(existsSync(mark)).toBe(true);
  });
});

const anthropicBundle = sampleBundle({ swarm: 'policy: { maxStepRetries: 0 }' }).replace(
  /provider: scripted[\s\S]*?(?=\n---)/,
  'provider: anthropic\n  model: claude-sonnet-4-5\n  apiKey: { valueFrom: { env: ANTHROPIC_API_KEY } }',
);

const noProxies = Object.fromEntries(
  ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [
    [name, undefined],
    [name.toLowerCase(), undefined],
  ]),
);

/** Starts a server that refuses every request and records the first line of each request. */
function listenForRequests() {
  const requests: string[] = [];
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket, bytes) {
        requests.push(bytes.toString().split('\r\n', 1)[0] ?? '');
        socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
      },
    },
  });
  return { url: `http://127.0.0.1:${listener.port}`, requests, [Symbol.dispose]: () => listener.stop(true) };
}
