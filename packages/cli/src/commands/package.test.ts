// Tests `gdn package` with the real npm, but without a network.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { sampleStep, testInProof } from '../../../../test/samples.ts';
import { GdnPlace } from '../testing/gdn-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { offline, packPackage, serveRegistry, weatherTool, writePackage } from '../testing/sample-packages.ts';

// This timeout is long, because processes start one after the other and the machine may be busy.
setDefaultTimeout(120_000);

let place: GdnPlace;
beforeEach(() => void (place = new GdnPlace()));
afterEach(async () => expect(await place.remove()).toEqual([]));

const reference = `{ kind: Tool, name: weather, package: '@acme/tools' }`;
const callsWeather = `- { when: weather, call: { tool: weather__get, args: {} } }\n- { afterTool: weather__get, say: 'It is {{result}}.' }`;
const plain = () => place.write('bundle', { 'goondan.yaml': sampleBundle() });
const using = () =>
  place.write('bundle', { 'goondan.yaml': sampleBundle({ script: callsWeather, agent: `tools: [${reference}]` }) });
const tools = (more: { version?: string; manifest?: string; scripts?: Record<string, string> } = {}) =>
  writePackage(place, `tools-${more.version ?? '1.0.0'}`, { name: '@acme/tools', manifest: weatherTool, ...more });

const quietly = { stdout: 'ignore', stderr: 'ignore' } as const;

describe('the .npmrc of the bundle', () => {
  testInProof('names no program: its own git is not run', async () => {
    await plain();
    await tools();
    const mark = join(place.folder, 'ran');
    const dependencies = { x: `git+file://${place.folder}/nowhere.git` };
    const files = { '.npmrc': 'git=./git\n', git: `#!/bin/sh\ntouch ${mark}\n` };
    await place.write('bundle', { ...files, 'package.json': JSON.stringify({ dependencies }) });
    chmodSync(bundled('git'), 0o755);
    expect((await gdn('add ./tools-1.0.0 --trust')).exitCode).toBe(1);
    expect(existsSync(mark)).toBe(false);
    // Only `npm run proof` shows that npm alone would run it.
    if (sampleStep !== 1) return;
    await Bun.spawn(['npm', 'install'], { cwd: bundled('.'), env: { ...process.env, ...offline(place) }, ...quietly })
      .exited;
    expect(existsSync(mark)).toBe(true);
  });

  const both = 'global=true\nlocation=global';
  test.each(sampleStep === 1 ? [both, ...both.split('\n')] : [both])(
    'F-16 %j: it is still installed in the bundle; one of gdn init keeps the settings of its package.json',
    async (lines) => {
      expect((await place.run('init', 'bundle', '--no-git')).exitCode).toBe(0);
      await tools();
      await place.write('bundle', { '.npmrc': `${lines}\n` });
      // A global install would go to this folder instead of the machine's own folder.
      const prefix = join(place.folder, 'prefix');
      const { stderr, exitCode } = await gdn('add ./tools-1.0.0 --trust', { npm_config_prefix: prefix });
      expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
      const dependencies = { '@acme/tools': 'file:../tools-1.0.0' };
      expect(inBundle('package.json')).toEqual({ private: true, type: 'module', dependencies });
      expect(existsSync(prefix)).toBe(false);
      expect((await gdn('list')).stdout).toContain('@acme/tools');
    },
  );

  test('T-08 sends no variable of the operator anywhere, and is used only after trust; ~/.npmrc is always used', async () => {
    await plain();
    await tools();
    const tarball = await packPackage(place, 'tools-1.0.0');
    const registries = [serveRegistry('@acme/tools', '1.0.0', tarball), serveRegistry('@acme/tools', '1.0.0', tarball)];
    const [mine, theirs] = registries.map(({ url, heard }) => ({ url, host: url.replace('http:', ''), heard }));
    if (mine === undefined || theirs === undefined) throw new Error('no registries');
    try {
      const npmrc = [
        `@acme:registry=${theirs.url}`,
        `${theirs.host}:_authToken=\${ANTHROPIC_API_KEY}`,
        // npm gets the variable to which the operator's own `.npmrc` refers.
        `${mine.host}:_authToken=\${ANTHROPIC_API_KEY}`,
      ];
      await place.write('bundle', { '.npmrc': npmrc.join('\n') });
      await place.write('home', { '.npmrc': `${mine.host}:_authToken=\${MY_REGISTRY_TOKEN}\n` });
      const env = {
        HOME: join(place.folder, 'home'),
        // This overrides a variable that `npm test` sets to the file of the person who runs it.
        npm_config_userconfig: join(place.folder, 'home/.npmrc'),
        npm_config_registry: mine.url,
        npm_config_offline: 'false',
        ANTHROPIC_API_KEY: 'sk-of-the-operator',
        MY_REGISTRY_TOKEN: 'for-my-registry',
      };
      const untrusted = await gdn('add @acme/tools', env);
      expect(untrusted).toMatchObject({
        exitCode: 0,
        stderr: expect.stringContaining('is not used: the folder is not trusted yet. See --trust.\n'),
      });
      expect(theirs.heard).toEqual([]);
      expect(mine.heard[0]).toEqual({ path: '/@acme/tools', authorization: 'Bearer for-my-registry' });
      expect(readFileSync(bundled('.npmrc'), 'utf8')).toBe(npmrc.join('\n'));

      for (const path of ['bundle/package.json', 'bundle/package-lock.json', 'bundle/node_modules', 'npm-cache'])
        rmSync(join(place.folder, path), { recursive: true });
      const trusted = await gdn('add @acme/tools --trust --allow-scripts --json', env);
      expect(JSON.parse(trusted.stdout)).toMatchObject({ scripts: 'allowed', heldBack: [] });
      expect(theirs.heard[0]?.path).toBe('/@acme/tools');
      expect(JSON.stringify([...mine.heard, ...theirs.heard])).not.toContain('sk-of-the-operator');
    } finally {
      await Promise.all(registries.map((each) => each.stop()));
    }
  });

  testInProof(
    'T-08 is used only after trust also in a folder above, which names the bundle as its workspace',
    async () => {
      await plain();
      await tools();
      const tarball = await packPackage(place, 'tools-1.0.0');
      const [mine, theirs] = [serveRegistry('@acme/tools', '1.0.0', tarball), serveRegistry('x', '1.0.0', tarball)];
      try {
        await place.write('.', {
          '.npmrc': `@acme:registry=${theirs.url}\n`,
          'package.json': JSON.stringify({ private: true, workspaces: ['bundle'] }),
        });
        await place.write('bundle', { 'package.json': '{ "name": "bundle", "version": "1.0.0" }' });
        const env = { npm_config_registry: mine.url, npm_config_offline: 'false' };
        expect((await gdn('add @acme/tools', env)).exitCode).toBe(0);
        expect(theirs.heard).toEqual([]);
        expect(inBundle('package.json').dependencies).toEqual({ '@acme/tools': '1.0.0' });
      } finally {
        await Promise.all([mine.stop(), theirs.stop()]);
      }
    },
  );
});

describe('a package.json that cannot be read', () => {
  test.each([
    [
      'a pipe that nobody writes to',
      () => void Bun.spawnSync(['mkfifo', bundled('package.json')]),
      'is not a regular file',
    ],
    [
      'a link to a device without an end',
      () => symlinkSync('/dev/zero', bundled('package.json')),
      'is not a regular file',
    ],
    [
      'larger than any is',
      () => {
        writeFileSync(bundled('package.json'), '');
        truncateSync(bundled('package.json'), 64 * 1024 * 1024 + 1);
      },
      'is larger than 64 MB',
    ],
  ])('T-10 is rejected before it is read: %s', async (_what, make, why) => {
    await plain();
    make();
    const refusal = `E_PACKAGE_FILE: "${bundled('package.json')}" cannot be read: it ${why}.\n`;
    const [listed, added] = await Promise.all([gdn('list'), gdn('add x')]);
    expect(listed.stderr).toStartWith(refusal);
    expect(added.stderr).toStartWith(refusal);
    expect([listed.exitCode, added.exitCode]).toEqual([3, 3]);
  });
});

describe('gdn package add', () => {
  test('a tarball: npm installs it without running its code, and it can be referred to; a version with errors is removed again, and the install before is restored', async () => {
    await plain();
    const mark = join(place.folder, 'ran');
    await tools({ scripts: { postinstall: `touch ${mark}` } });
    await packPackage(place, 'tools-1.0.0');
    const { stdout, stderr, exitCode } = await gdn('add ./tools-1.0.0/acme-tools-1.0.0.tgz');
    expect(stderr).toBe(
      'There was no package.json in the bundle, so one was created; it lists the installed packages.\n',
    );
    expect(stdout).toBe(
      [
        'Added @acme/tools 1.0.0. No script of a package was run.',
        'The install scripts of @acme/tools were not run. Look at them first; `gdn package add ./tools-1.0.0/acme-tools-1.0.0.tgz --allow-scripts` runs them.',
        'It offers:',
        `  Tool/weather  ${reference}`,
        'Put the text in braces where the reference belongs, such as in `tools` of an agent.',
        '',
      ].join('\n'),
    );
    expect(exitCode).toBe(0);
    expect(existsSync(mark)).toBe(false);
    expect(inBundle('package.json')).toEqual({
      private: true,
      dependencies: { '@acme/tools': 'file:../tools-1.0.0/acme-tools-1.0.0.tgz' },
    });

    await using();
    const { stdout: answer } = await place.run('run', 'bundle', '--trust', '--input', 'The weather?');
    expect(answer).toBe('It is sunny.\n');

    await tools({ version: '2.0.0', manifest: weatherTool.replace('entry: ./weather.ts', 'entri: 7') });
    await packPackage(place, 'tools-2.0.0');
    const before = ['package.json', 'package-lock.json'].map((name) => readFileSync(bundled(name), 'utf8'));
    const refused = await gdn('add ./tools-2.0.0/acme-tools-2.0.0.tgz');
    expect(refused.stderr).toMatch(/node_modules\/@acme\/tools\/goondan\.yaml:5:3 E_RESOURCE_KEY Tool\/weather: /);
    expect(refused.stderr).toMatch(/\nE_PACKAGE_INVALID: "@acme\/tools" has an error, and was taken out again\.\n/);
    expect(refused).toMatchObject({ stdout: '', exitCode: 4 });
    expect(['package.json', 'package-lock.json'].map((name) => readFileSync(bundled(name), 'utf8'))).toEqual(before);
    expect(inBundle('node_modules/@acme/tools/package.json').version).toBe('1.0.0');
  });

  testInProof('by name from a registry: the version is exact; at a terminal it shows progress', async () => {
    await plain();
    await writePackage(place, 'tools', { name: 'acme-tools', version: '1.2.3', manifest: weatherTool });
    const registry = serveRegistry('acme-tools', '1.2.3', await packPackage(place, 'tools'));
    try {
      const env = { npm_config_registry: registry.url, npm_config_offline: 'false' };
      const command = ['package', 'add', 'acme-tools@^1.0.0', '--allow-scripts', '--bundle', 'bundle'];
      const { screen, exitCode } = await place.runOnTerminal(command, [], { env: { ...offline(place), ...env } });
      expect(screen).toContain('Installing acme-tools@^1.0.0 with npm …\n');
      expect(screen).toContain('\nAdded acme-tools 1.2.3.\nIt offers:\n');
      expect(screen).toContain(`\n  Tool/weather  { kind: Tool, name: weather, package: acme-tools }\n`);
      expect(inBundle('package.json').dependencies).toEqual({ 'acme-tools': '1.2.3' });
      expect(exitCode).toBe(0);
    } finally {
      await registry.stop();
    }
  });

  testInProof(
    'with --allow-scripts its scripts run; a bundle that is a package itself is not rewritten; the line to add is printed',
    async () => {
      const more = 'kind: Package\nmetadata: { name: mine }\nspec:\n  version: 1.0.0\n  dependencies: []';
      const text = sampleBundle({ more });
      await place.write('bundle', { 'goondan.yaml': text });
      const mark = join(place.folder, 'ran');
      await tools({ scripts: { postinstall: `touch ${mark}` } });
      const line = text.split('\n').findIndex((each) => each.includes('dependencies')) + 1;
      const { stdout } = await gdn(`add ${await packPackage(place, 'tools-1.0.0')} --allow-scripts`);
      expect(stdout).toStartWith('Added @acme/tools 1.0.0.\nIt offers:\n');
      expect(existsSync(mark)).toBe(true);
      expect(stdout).toEndWith(
        `\nPackage/mine lists what it needs (goondan.yaml:${line}). Add to its dependencies: { name: '@acme/tools', version: '1.0.0' }\n`,
      );
      expect(readFileSync(join(place.folder, 'bundle', 'goondan.yaml'), 'utf8')).toBe(text);
    },
  );

  testInProof('a package that is not of Goondan is removed again: nothing is left', async () => {
    await plain();
    await writePackage(place, 'left-pad', { name: 'left-pad' });
    const { stdout, stderr, exitCode } = await gdn('add ./left-pad');
    expect(stderr).toStartWith('E_PACKAGE_MISSING: "left-pad" is no package of Goondan: it has no goondan.yaml.\n');
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 3 });
    for (const name of ['package.json', 'package-lock.json', 'node_modules'])
      expect(existsSync(bundled(name))).toBe(false);
  });

  test('output of npm is shown in full, with a code; nothing has changed', async () => {
    await plain();
    const { stdout, stderr, exitCode } = await gdn('add no-such-package');
    expect(stderr).toContain('npm error code ENOTCACHED\n');
    expect(stderr).toEndWith(
      "E_NPM_FAILED: `npm install` ended with 1.\nRead npm's output above; the bundle was not changed.\n",
    );
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
    expect(existsSync(bundled('package.json'))).toBe(false);

    const path = await place.write('bin', {});
    mkdirSync(path);
    symlinkSync(Bun.which('node') ?? '', join(path, 'node'));
    const noNpm = await gdn('add x', { PATH: path });
    expect(noNpm.stderr).toContain('E_NPM_FAILED: `npm install` could not be run: ');
    await Bun.write(bundled('package.json'), '{ "dependencies": ');
    const broken = await gdn('add x');
    expect(broken.stderr).toStartWith(`E_PACKAGE_FILE: "${bundled('package.json')}" cannot be read: `);
    expect(broken.exitCode).toBe(3);
  });

  test('Ctrl-C ends npm and leaves nothing behind', async () => {
    await plain();
    await tools();
    const registry = serveRegistry('x', '1.0.0', await packPackage(place, 'tools-1.0.0'));
    try {
      const env = { ...offline(place), npm_config_registry: registry.url, npm_config_offline: 'false' };
      const child = place.startWith({ env }, 'package', 'add', 'hangs', '--bundle', 'bundle');
      await registry.hangs;
      child.kill('SIGINT');
      const [stderr, exitCode] = await Promise.all([child.stderr.text(), child.exited]);
      expect(stderr).toContain('E_CANCELLED: npm was interrupted.\n');
      expect(exitCode).toBe(130);
      for (const name of ['package.json', 'package-lock.json', 'node_modules'])
        expect(existsSync(bundled(name))).toBe(false);
    } finally {
      await registry.stop();
    }
  });

  test('without a bundle there is nothing to add to', async () => {
    const { stderr, exitCode } = await gdn('add x');
    expect(stderr).toStartWith('E_BUNDLE_MISSING: ');
    expect(exitCode).toBe(3);
  });
});

describe('gdn package remove and list', () => {
  test('a folder, relative to the current one, is listed with its resources and whether it is used; its removal is refused while a resource or a module needs it, with the place', async () => {
    await plain();
    expect((await gdn('list')).stdout).toBe('No package of Goondan is installed for this bundle.\n');
    expect((await gdn('list --json')).stdout).toBe('[]\n');
    await tools();
    const { stdout, exitCode } = await gdn('add ./tools-1.0.0 --json');
    expect(JSON.parse(stdout)).toEqual({
      name: '@acme/tools',
      version: '1.0.0',
      scripts: 'not-run',
      heldBack: [],
      resources: [{ resource: 'Tool/weather', reference: { kind: 'Tool', name: 'weather', package: '@acme/tools' } }],
    });
    expect(exitCode).toBe(0);
    expect(inBundle('package.json').dependencies).toEqual({ '@acme/tools': 'file:../tools-1.0.0' });
    expect((await gdn('list')).stdout).toBe('@acme/tools 1.0.0 (not used)\n  Tool/weather\n');
    await using();
    expect(JSON.parse((await gdn('list --json')).stdout)).toEqual([
      {
        name: '@acme/tools',
        version: '1.0.0',
        folder: bundled('node_modules/@acme/tools'),
        valid: true,
        resources: ['Tool/weather'],
        used: true,
      },
    ]);
    const manifest = join(place.folder, 'tools-1.0.0', 'goondan.yaml');
    await Bun.write(manifest, 'kind: Tol');
    expect((await gdn('list')).stdout).toContain('its goondan.yaml has errors');
    await Bun.write(manifest, weatherTool);

    const text = readFileSync(bundled('goondan.yaml'), 'utf8').split('\n');
    const line = text.findIndex((each) => each.includes('@acme/tools')) + 1;
    const referred = await gdn('remove @acme/tools');
    expect(referred.stderr).toStartWith(`bundle/goondan.yaml:${line}:`);
    expect(referred.stderr).toContain(' Agent/host refers to @acme/tools\nE_PACKAGE_USED: ');
    expect({ stdout: referred.stdout, exitCode: referred.exitCode }).toEqual({ stdout: '', exitCode: 1 });

    const own = `kind: Tool\nmetadata: { name: own }\nspec:\n  entry: ./own.ts\n  exports: [{ name: get, description: It., parameters: { type: object } }]`;
    await place.write('bundle', {
      'goondan.yaml': sampleBundle({ agent: 'tools: [Tool/own]', more: own }),
      'own.ts': `import { handlers as theirs } from '@acme/tools';\nexport const handlers = theirs;\n`,
    });
    const imported = await gdn('remove @acme/tools');
    expect(imported.stderr).toMatch(/^bundle\/\S+:\d+:\d+ E_IMPORT_MISSING /);
    expect(imported.stderr).toContain('\nE_PACKAGE_USED: ');
    expect(statSync(bundled('node_modules/@acme/tools')).isDirectory()).toBe(true);
    expect(inBundle('package.json').dependencies).toEqual({ '@acme/tools': 'file:../tools-1.0.0' });

    await Bun.write(bundled('more.yaml'), 'kind: Agent\nspec: [');
    const unread = await gdn('remove @acme/tools');
    expect(unread.stderr).toContain('so it is unknown whether it refers to "@acme/tools".\n');
    expect(unread.exitCode).toBe(4);

    rmSync(bundled('more.yaml'));
    await plain();
    expect((await gdn('remove @acme/tools')).stdout).toBe('Removed @acme/tools.\n');
    expect(inBundle('package.json')).toEqual({ private: true });
    expect(existsSync(bundled('node_modules/@acme/tools'))).toBe(false);
    const gone = await gdn('remove @acme/tools');
    expect(gone.stderr).toStartWith('E_PACKAGE_MISSING: The package.json of the bundle does not list "@acme/tools".\n');
    expect({ stdout: gone.stdout, exitCode: gone.exitCode }).toEqual({ stdout: '', exitCode: 3 });
  });
});

test.each(['add', 'remove', 'list'])('gdn package %s --help ends with an example', async (command) => {
  const { stdout, exitCode } = await place.run('package', command, '--help');
  expect(stdout).toMatch(/\nExample:\n {2}\$ gdn .*\n$/);
  for (const option of ['--json', '--state-root', '--bundle']) expect(stdout).toContain(option);
  expect(exitCode).toBe(0);
});

function gdn(line: string, env: Record<string, string> = {}) {
  return place.runWith({ env: { ...offline(place), ...env } }, 'package', ...line.split(' '), '--bundle', 'bundle');
}

function bundled(path: string): string {
  return join(place.folder, 'bundle', path);
}

function inBundle(path: string) {
  return JSON.parse(readFileSync(bundled(path), 'utf8'));
}
