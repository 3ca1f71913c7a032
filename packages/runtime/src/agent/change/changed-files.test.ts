// Changes of extensions and tools whose modules are files: which files a change loads anew, and who keeps the old ones.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@goondan/types';
import { sha256 } from '../../json/sha256.ts';
import { scriptedAgent } from '../../testing/index.ts';
import type { ExtensionDeclaration } from '../extension/load-extension.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'goondan-change-')));
afterAll(() => rmSync(folder, { recursive: true }));

let root: string;
const contents = new Map<string, string>();
beforeEach(() => {
  root = join(folder, crypto.randomUUID());
  mkdirSync(join(root, 'lib'), { recursive: true });
  contents.clear();
});

function write(file: string, ...lines: string[]): void {
  contents.set(file, lines.join('\n'));
  writeFileSync(join(root, file), lines.join('\n'));
}

const digestOf = (files: readonly string[]) => sha256(files.map((file) => contents.get(file) ?? '').join('\0'));

/** Declares an extension with these files, the first of which is its entry, as a plan in JSON has it. */
function extension(name: string, files: readonly [string, ...string[]], config: JsonObject = {}): ExtensionDeclaration {
  const spec = { entry: `./${files[0]}` };
  const resource = { apiVersion: 'goondan.ai/v1', kind: 'Extension', metadata: { name }, spec } as const;
  return { resource, root, config, files: files.toSorted(), digest: digestOf(files) };
}

function tool(name: string, files: readonly [string, ...string[]]): ToolDeclaration {
  const exports = [{ name: 'run', description: 'Runs.' }];
  return { name, exports, root, entry: `./${files[0]}`, files: files.toSorted(), digest: digestOf(files) };
}

interface Parts {
  readonly extensions?: readonly ExtensionDeclaration[];
  readonly tools?: readonly ToolDeclaration[];
}

async function started(parts: Parts) {
  const agent = await scriptedAgent({ bundleFolder: root, ...parts });
  const { plan } = agent.agent.parts;
  const base = { agentName: 'tested', modelRef: plan.modelRef, models: plan.openModel.entries, policy: plan.policy };
  const prepare = (wanted: Parts) => agent.agent.prepare({ ...base, bundleFolder: root, ...wanted });
  const change = async (wanted: Parts) => (await prepare(wanted)).swap();
  /** Returns what each tool of an extension answers, as text. */
  const answers = () =>
    agent.agent.parts.tools.items().map(({ name }) => {
      // The cast is safe: the handlers below take no arguments.
      const handler = agent.agent.parts.tools.get(name)?.handler as (() => unknown) | undefined;
      return `${name} ${String(handler?.())}`;
    });
  return { agent, prepare, change, answers };
}

/** Writes an extension that answers with its own version, that of its helper, and the nonce of its module. */
function writeAnswering(name: string, version: number): void {
  write(
    `${name}.ts`,
    `import { helper } from './lib/helper.ts';`,
    `const nonce: string = crypto.randomUUID();`,
    `export function register(api) {`,
    `  api.tools.register({ name: '${name}__run', description: 'x' }, () => '${version} ' + helper() + ' ' + nonce);`,
    `}`,
  );
}

const writeHelper = (version: number) =>
  write('lib/helper.ts', `let calls: number = 0;`, `export const helper = () => 'h${version}.' + ++calls;`);

const without = (nonces: readonly string[]) => nonces.map((each) => each.slice(0, each.lastIndexOf(' ')));
const nonceIn = (answer: string | undefined) => answer?.slice(answer.lastIndexOf(' '));

describe('an edited module', () => {
  test('L-01 and a helper that it imports are loaded anew, change after change', async () => {
    writeAnswering('a', 1);
    writeHelper(1);
    const a = () => extension('a', ['a.ts', 'lib/helper.ts']);
    const { change, answers } = await started({ extensions: [a()] });
    expect(without(answers())).toEqual(['a__run 1 h1.1']);
    writeAnswering('a', 2);
    await change({ extensions: [a()] });
    expect(without(answers())).toEqual(['a__run 2 h1.1']);
    writeHelper(2);
    await change({ extensions: [a()] });
    expect(without(answers())).toEqual(['a__run 2 h2.1']);
    writeAnswering('a', 3);
    writeHelper(3);
    await change({ extensions: [a()] });
    expect(without(answers())).toEqual(['a__run 3 h3.1']);
  });

  test('of a tool is loaded anew; the other tools keep theirs', async () => {
    const writeTool = (name: string, version: number) =>
      write(
        `${name}.ts`,
        `const id = crypto.randomUUID();`,
        `export const handlers = { run: () => '${version} ' + id };`,
      );
    writeTool('x', 1);
    writeTool('y', 1);
    const tools = () => [tool('x', ['x.ts']), tool('y', ['y.ts'])];
    const { change, answers } = await started({ tools: tools() });
    const before = answers();
    writeTool('x', 2);
    await change({ tools: tools() });
    const after = answers();
    expect(without(after)).toEqual(['x__run 2', 'y__run 1']);
    expect(after[1]).toBe(before[1] ?? '');
  });

  test('is found behind a link to its folder', async () => {
    const [real, link] = [root, join(folder, crypto.randomUUID())];
    symlinkSync(real, link);
    root = link;
    writeAnswering('a', 1);
    writeHelper(1);
    const a = () => extension('a', ['a.ts', 'lib/helper.ts']);
    const { change, answers } = await started({ extensions: [a()] });
    writeHelper(2);
    await change({ extensions: [a()] });
    expect(without(answers())).toEqual(['a__run 1 h2.1']);
  });
});

describe('a file that two parts import', () => {
  test('L-01 stays the same module for both when only one of them changes', async () => {
    writeAnswering('a', 1);
    writeAnswering('b', 1);
    writeHelper(1);
    const both = () => [extension('a', ['a.ts', 'lib/helper.ts']), extension('b', ['b.ts', 'lib/helper.ts'])];
    const { change, answers } = await started({ extensions: both() });
    const before = answers();
    expect(without(before)).toEqual(['a__run 1 h1.1', 'b__run 1 h1.2']);
    writeAnswering('b', 2);
    await change({ extensions: both() });
    const after = answers();
    // The counter of the helper goes on, because there is one helper.
    expect(without(after)).toEqual(['a__run 1 h1.3', 'b__run 2 h1.4']);
    expect(nonceIn(after[0])).toBe(nonceIn(before[0]));
    expect(nonceIn(after[1])).not.toBe(nonceIn(before[1]));
  });

  test('a dropped change leaves no module behind that a later change could get', async () => {
    writeAnswering('a', 1);
    writeAnswering('b', 1);
    writeHelper(1);
    const both = () => [extension('a', ['a.ts', 'lib/helper.ts']), extension('b', ['b.ts', 'lib/helper.ts'])];
    const { prepare, change, answers } = await started({ extensions: both() });
    const before = answers();
    writeHelper(2);
    await (await prepare({ extensions: both() })).drop();
    writeHelper(1);
    writeAnswering('b', 2);
    await change({ extensions: both() });
    const after = answers();
    expect(without(after)[0]).toBe('a__run 1 h1.3');
    expect(without(after)[1]).toStartWith('b__run 2 h1.');
    expect(nonceIn(after[0])).toBe(nonceIn(before[0]));
  });
});

test('L-01 a refused change leaves a file as it is that a running part imports only now', async () => {
  const writeLate = (version: number) =>
    write('late.ts', `let calls: number = 0;`, `export const late = () => 'v${version}.' + ++calls;`);
  write(
    'a.ts',
    `export function register(api) {`,
    `  const run = async () => (await import('./late.ts')).late();`,
    `  api.tools.register({ name: 'a__run', description: 'x' }, run);`,
    `}`,
  );
  writeLate(1);
  const a = () => ({ ...extension('a', ['a.ts', 'late.ts']), lazy: true as const });
  const { agent, prepare } = await started({ extensions: [a()] });
  // The cast is safe: this is the handler above.
  const run = agent.agent.parts.tools.get('a__run')?.handler as unknown as () => Promise<string>;
  expect(await run()).toBe('v1.1');
  writeLate(2);
  expect(await prepare({ extensions: [a()] }).catch((error: unknown) => error)).toMatchObject({
    code: 'E_RELOAD_FAILED',
    message: expect.stringContaining('Extension/a imports files while it runs'),
  });
  expect(await run()).toBe('v1.2');
});

describe('the place of an error', () => {
  const broken = (emptyLines: number, where: 'register' | 'layer') => [
    ...Array.from({ length: emptyLines }, () => ''),
    `export function register(api) {`,
    where === 'register' ? `  rulez();` : `  api.pipeline.register('step', () => rulez());`,
    `}`,
  ];

  test('in new code that fails to register is in the error, and nothing has changed', async () => {
    write('a.ts', `export function register() {}`);
    const { agent, prepare } = await started({ extensions: [extension('a', ['a.ts'])] });
    write('a.ts', ...broken(3, 'register'));
    const failed: unknown = await prepare({ extensions: [extension('a', ['a.ts'])] }).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 'E_EXT_INIT' });
    expect(agent.agent.parts.locate(failed).place).toMatchObject({ file: 'a.ts', line: 5, column: 3 });
    expect((await agent.say('hello')).text).toBe('You said: hello');
  });

  test('in a new layer is the line of the new file, also after several changes', async () => {
    write('a.ts', `export function register() {}`);
    const { agent, change } = await started({ extensions: [extension('a', ['a.ts'])] });
    for (const lines of [0, 7, 2]) {
      write('a.ts', ...broken(lines, 'layer'));
      await change({ extensions: [extension('a', ['a.ts'])] });
      const { result } = await agent.say('hello');
      expect(result.error?.place).toMatchObject({ file: 'a.ts', line: lines + 2 });
    }
  });
});
