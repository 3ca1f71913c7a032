// Tests `gdn init`, and that the files it writes work.
import { describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSwarms } from '@goondan/runtime/bundle';
import { firstQuestions, type Template, templateNames } from '../init/templates.ts';
import { openPlace } from '../testing/open-place.ts';
import { sampledCases } from '../../../../test/samples.ts';

/** An environment without provider keys, and with an author for git commits. */
const env = {
  ANTHROPIC_API_KEY: '',
  OPENAI_API_KEY: '',
  GOOGLE_GENERATIVE_AI_API_KEY: '',
  GIT_CEILING_DIRECTORIES: realpathSync(tmpdir()),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

const place = openPlace();

const gdn = (...args: string[]) => place.runWith({ env }, ...args);
const read = (path: string) => readFileSync(join(place.folder, path), 'utf8');
const git = (...args: string[]) =>
  Bun.$`git -C ${join(place.folder, 'my-swarm')} ${args}`.env({ ...process.env, ...env });

describe('gdn init', () => {
  test('writes a bundle that answers without a key or a network', async () => {
    const { stdout, stderr, exitCode } = await gdn('init', 'my-swarm');
    expect(stdout).toStartWith(
      `A new bundle is in ${place.folder}/my-swarm:\n  .gitignore\n  README.md\n  goondan.yaml\n`,
    );
    expect(stdout).toContain('\nFor an editor or tsc, install Goondan in this folder or in a folder above.\nTry it:\n');
    expect(stdout).toEndWith('Try it:\n  gdn run my-swarm --trust --input "What time is it in Asia/Seoul?"\n');
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    const answer = await gdn('run', 'my-swarm', '--trust', '--input', 'hello');
    expect(answer).toMatchObject({ stdout: expect.stringMatching(/^You said: hello\./), stderr: '', exitCode: 0 });
  });

  test.each(templateNames)('--template %s has no errors and no warnings', async (template) => {
    await gdn('init', 'my-swarm', '--template', template, '--no-git');
    expect(JSON.parse((await gdn('validate', 'my-swarm', '--json')).stdout)).toEqual({
      valid: true,
      errors: [],
      warnings: [],
    });
  });

  const shown: [template: Template, answer: RegExp][] = [
    ['minimal', /^One agent with a prompt /m],
    ['default', /^In Asia\/Seoul it is \w+day, .+\.$/m],
    ['multi-agent', /^The researcher says: .+ about tea\.$/m],
    ['extension', /^This is visit number 1\.$/m],
    ['demo', /^Seoul, the next 3 days: 12 °C, 14 °C, 11 °C\.$/m],
  ];
  test.each([...sampledCases(shown, 2, 1)])(
    '--template %s: its own first question shows its features, and another input is repeated',
    async (template, answer) => {
      const input = firstQuestions[template];
      const { stdout } = await gdn('init', 'my-swarm', '--template', template, '--no-git');
      expect(stdout).toEndWith(`Try it:\n  gdn run my-swarm --trust --input "${input}"\n`);
      expect(read('my-swarm/README.md')).toContain(`--input "${input}"`);
      await place.serveWith({ env }, 'my-swarm');
      const ended = await gdn('run', 'my-swarm', '--trust', '--input', input);
      expect(ended).toMatchObject({ stdout: expect.stringMatching(answer), stderr: '', exitCode: 0 });
      const other = await gdn('run', 'my-swarm', '--trust', '--input', 'hello');
      expect(other).toMatchObject({ stdout: expect.stringMatching(/^You said: hello\b/), stderr: '', exitCode: 0 });
      expect((await gdn('stop', '--bundle', 'my-swarm')).exitCode).toBe(0);
    },
  );

  test('every template is run', () => {
    expect(shown.map(([template]) => template).toSorted()).toEqual(templateNames.toSorted());
    expect(new Set(Object.values(firstQuestions)).size).toBe(templateNames.length);
  });

  test('started by npx, it names a command that can be typed', async () => {
    const byNpx = { env: { ...env, npm_command: 'exec', npm_lifecycle_event: 'npx' } };
    const { stdout } = await place.runWith(byNpx, 'init', 'my-swarm', '--no-git');
    expect(stdout).toContain('\n  npx gdn run my-swarm --trust --input ');
  });

  test('writes package.json and a strict tsconfig.json', async () => {
    await gdn('init', 'my-swarm', '--template', 'minimal');
    expect(JSON.parse(read('my-swarm/package.json'))).toEqual({ private: true, type: 'module' });
    expect(read('my-swarm/tsconfig.json')).toContain('"strict": true');
    expect((await git('ls-files').text()).split('\n')).toEqual(
      expect.arrayContaining(['package.json', 'tsconfig.json']),
    );
  });

  test('--json lists exactly the written files', async () => {
    const { files, ...rest } = JSON.parse((await gdn('init', 'my-swarm', '--no-git', '--json')).stdout);
    const folder = join(place.folder, 'my-swarm');
    expect(rest).toEqual({ folder, template: 'default', provider: 'scripted', kept: [], git: 'none' });
    const there = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
    expect(files.toSorted()).toEqual(there.toSorted());
  });

  test('the YAML files point editors at the installed schema', async () => {
    const schema = 'node_modules/@goondan/runtime/schema/goondan.schema.json';
    await place.write('.', { [schema]: '{}' });
    expect((await gdn('init', 'my-swarm', '--no-git')).stdout).not.toContain('install Goondan');
    for (const file of ['goondan.yaml', 'model.yaml']) {
      expect(read(`my-swarm/${file}`)).toStartWith(`# yaml-language-server: $schema=../${schema}\n`);
    }
  });

  test('--template demo is the bundle that gdn demo runs, file by file', async () => {
    await gdn('init', 'my-swarm', '--template', 'demo', '--no-git');
    const demo = join(import.meta.dir, '..', '..', 'demo');
    const paths = readdirSync(demo, { recursive: true, encoding: 'utf8' }).filter((path) => /\.\w+$/.test(path));
    expect(paths).toContain('goondan.yaml');
    const shared = ['.gitignore', 'package.json', 'tsconfig.json'];
    const written = readdirSync(join(place.folder, 'my-swarm'), { recursive: true, encoding: 'utf8' });
    expect(written.filter((path) => /\.\w+$/.test(path) && !shared.includes(path)).toSorted()).toEqual(
      paths.toSorted(),
    );
    for (const path of paths) {
      const text = readFileSync(join(demo, path), 'utf8').replace(
        'metadata: { name: demo }',
        'metadata: { name: my-swarm }',
      );
      expect(read(`my-swarm/${path}`)).toBe(text);
    }
  });

  test.each(templateNames)('--template %s names the swarm after the folder', async (template) => {
    await gdn('init', 'My News', '--template', template, '--no-git');
    expect(await loadSwarms(join(place.folder, 'My News'))).toMatchObject({ swarms: [{ name: 'my-news' }] });
  });

  test('--bundle names the folder too; two different ones are an error', async () => {
    expect((await gdn('init', '--bundle', 'my-swarm', '--no-git')).exitCode).toBe(0);
    expect(existsSync(join(place.folder, 'my-swarm/goondan.yaml'))).toBe(true);
    expect((await gdn('init', 'one', '--bundle', 'other')).exitCode).toBe(2);
    expect(existsSync(join(place.folder, 'one'))).toBe(false);
  });

  test('without a folder: the current one', async () => {
    const { stdout, exitCode } = await gdn('init', '--no-git');
    expect(stdout).toEndWith('  gdn run --trust --input "What time is it in Asia/Seoul?"\n');
    expect(exitCode).toBe(0);
    expect(existsSync(join(place.folder, 'goondan.yaml'))).toBe(true);
  });
});

describe('gdn init never overwrites files', () => {
  test('keeps package.json and tsconfig.json, and says so', async () => {
    const mine = { 'package.json': '{ "name": "mine" }\n', 'tsconfig.json': '{}\n' };
    const locks = {
      'package-lock.json': '{}\n',
      'bun.lock': '',
      'pnpm-lock.yaml': 'lockfileVersion: 9\n',
      'yarn.lock': '',
    };
    await place.write('my-swarm', { ...mine, ...locks, 'node_modules/x/index.js': '' });
    const { stdout, stderr, exitCode } = await gdn('init', 'my-swarm');
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(stdout).toContain(
      '\npackage.json was already there and is unchanged.\n' +
        'tsconfig.json was already there and is unchanged. For the code of a bundle, it needs "types": ["bun"] and ',
    );
    for (const [path, text] of Object.entries(mine)) expect(read(`my-swarm/${path}`)).toBe(text);
    expect((await git('ls-files').text()).split('\n')).not.toContain('package.json');
    expect(await gdn('validate', 'my-swarm')).toMatchObject({ exitCode: 0 });
  });

  test('--json lists a kept file as kept, and not as written', async () => {
    await place.write('my-swarm', { 'tsconfig.json': '{}\n' });
    const written = JSON.parse((await gdn('init', 'my-swarm', '--no-git', '--json')).stdout);
    expect(written.kept).toEqual(['tsconfig.json']);
    expect(written.files).toContain('package.json');
    expect(written.files).not.toContain('tsconfig.json');
  });

  test('a folder that is not empty: a suggestion, exit 3, nothing changed', async () => {
    await place.write('my-swarm', { 'goondan.yaml': 'mine\n' });
    const { stdout, stderr, exitCode } = await gdn('init', 'my-swarm');
    expect(stderr).toStartWith(`E_INIT_FOLDER: "${place.folder}/my-swarm" is not empty: it has "goondan.yaml". `);
    expect(stderr).toContain('\nName a folder that is new or empty');
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 3 });
    expect(readdirSync(join(place.folder, 'my-swarm'))).toEqual(['goondan.yaml']);
    expect(read('my-swarm/goondan.yaml')).toBe('mine\n');
  });

  test.each([
    ['a file', 'file', /^E_INIT_FOLDER: "\S+\/file" is a file, not a folder\.$/],
    ['a link to nothing', 'link', /^E_INIT_FOLDER: /],
    ['a folder below a file', 'file/sub/my-swarm', /^E_INIT_FOLDER: "\S+\/file" is a file, not a folder\.$/],
    [
      'a folder with too long a name',
      'x'.repeat(300),
      /^E_INIT_FOLDER: No bundle can be written into "\S+": the path is too long\.$/,
    ],
    [
      'a folder with too long a path',
      'ab/'.repeat(2000),
      /^E_INIT_FOLDER: No bundle can be written into "\S{1,300}": the path is too/,
    ],
  ])('%s: exit 3, no stack', async (_name, folder, problem) => {
    await place.write('.', { file: 'mine\n' });
    symlinkSync('nowhere', join(place.folder, 'link'));
    const { stdout, stderr, exitCode } = await gdn('init', folder);
    expect(stderr.split('\n')).toEqual([expect.stringMatching(problem), expect.stringMatching(/^Name /), '']);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 3 });
    expect(read('file')).toBe('mine\n');
  });
});

describe('gdn init and git', () => {
  test('makes a repository with one commit of everything, without keys', async () => {
    const { stdout } = await gdn('init', 'my-swarm', '--json');
    const { files, git: done }: { files: string[]; git: string } = JSON.parse(stdout);
    expect(done).toBe('committed');
    expect((await git('ls-files').text()).trim().split('\n').toSorted()).toEqual(files.toSorted());
    await place.write('my-swarm', { '.env': 'ANTHROPIC_API_KEY=x\n' });
    expect(await git('status', '--porcelain').text()).toBe('');
    expect((await git('log', '--format=%s').text()).trim()).toBe('A new swarm, by gdn init');
  });

  test('inside a repository: no other one is made', async () => {
    await Bun.$`git init --quiet ${place.folder}`.env({ ...process.env, ...env });
    expect(JSON.parse((await gdn('init', 'my-swarm', '--json')).stdout)).toMatchObject({ git: 'none' });
    expect(existsSync(join(place.folder, 'my-swarm/.git'))).toBe(false);
  });

  test('nothing in an existing .git is run', async () => {
    // Git does not accept a `.git` without HEAD as a repository. `git init` completes it and keeps its contents.
    const mark = join(place.folder, 'mark');
    const hook = `#!/bin/sh\ntouch ${mark}\n`;
    await place.write('my-swarm/.git', { config: `[core]\n\tfsmonitor = "touch ${mark}; false"\n` });
    const hooks = ['post-index-change', 'prepare-commit-msg', 'reference-transaction', 'post-commit'];
    for (const name of hooks) {
      const path = join(await place.write('my-swarm/.git/hooks', { [name]: hook }), name);
      chmodSync(path, 0o755);
    }
    expect(JSON.parse((await gdn('init', 'my-swarm', '--json')).stdout)).toMatchObject({ git: 'none' });
    expect(existsSync(mark)).toBe(false);
    await git('init', '--quiet').quiet();
    await git('add', '.').quiet();
    expect(existsSync(mark)).toBe(true);
  });

  const nobody = {
    EMAIL: undefined,
    GIT_AUTHOR_NAME: undefined,
    GIT_AUTHOR_EMAIL: undefined,
    GIT_COMMITTER_NAME: undefined,
    GIT_COMMITTER_EMAIL: undefined,
    // Without this setting git makes up an address on machines that have a host name.
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'user.useConfigOnly',
    GIT_CONFIG_VALUE_0: 'true',
  };
  test.each([
    ['no identity', nobody],
    ['an empty name', { GIT_AUTHOR_NAME: '', GIT_COMMITTER_NAME: '' }],
  ])('%s: the bundle exists, and git is told with the printed commands', async (_name, refusing) => {
    const refused = { env: { ...env, ...refusing } };
    const { stdout, stderr, exitCode } = await place.runWith(refused, 'init', 'my-swarm', '--json');
    expect(stderr).toStartWith('The bundle is written, but git made no commit: fatal: ');
    expect(stderr).toContain('\nTell git who you are with `git config --global user.name "Your Name"` and ');
    expect(JSON.parse(stdout)).toMatchObject({ git: 'failed' });
    expect(exitCode).toBe(0);
    const [, command = ''] = /then run `(git .+)`\.\n$/.exec(stderr) ?? [];
    await Bun.$`sh -c ${command}`.env({ ...process.env, ...env }).quiet();
    expect((await git('ls-files').text()).trim().split('\n')).toEqual(JSON.parse(stdout).files.toSorted());
  });
});
