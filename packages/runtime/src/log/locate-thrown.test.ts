import { beforeAll, describe, expect, test } from 'bun:test';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { loadProblem } from '../config/load-problem.ts';
import { usedMs } from '../../../../test/used-ms.ts';
import { locateIn } from './locate-thrown.ts';
import { maskSecrets, noSecrets } from './mask-secrets.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';

const root = temporaryFolder();
const folder = join(root, 'bundle');

const write = (path: string, ...lines: string[]) => Bun.write(join(folder, path), lines.join('\n'));

beforeAll(async () => {
  await write(
    'extensions/rules.ts',
    `import { check } from './lib/check.ts';`,
    `import { parse } from 'acme-parser';`,
    `interface Rules { readonly strict: boolean }`,
    ``,
    `export function own(rules: Rules): number {`,
    `  const size = rulez.length;`,
    `  return size;`,
    `}`,
    `export const imported = (): void => { check(); };`,
    `export const packaged = (): void => { parse('?'); };`,
    `export async function awaited(call: () => Promise<void>): Promise<void> {`,
    `  await call();`,
    `}`,
    `export function wrapped(): void {`,
    `  try { check(); } catch (cause) { throw new Error('the rules are wrong', { cause }); }`,
    `}`,
    `export function deep(depth: number): number { return depth === 0 ? own({ strict: true }) : deep(depth - 1) + 1; }`,
  );
  await write(
    'extensions/lib/check.ts',
    `// A file that the entry imports.`,
    `export function check(): void {`,
    `  nope();`,
    `}`,
  );
  await write('node_modules/acme-parser/package.json', `{ "name": "acme-parser", "main": "index.js" }`);
  await write(
    'node_modules/acme-parser/index.js',
    `export function parse(text) {`,
    `  throw new TypeError('cannot parse ' + text);`,
    `}`,
  );
  await write(
    'node_modules/@goondan/base/index.js',
    `import { parse } from 'acme-parser';`,
    `export function start(text) {`,
    `  parse(text);`,
    `}`,
  );
});

type Run = (...args: unknown[]) => unknown;

async function thrownBy(name: string, ...args: unknown[]): Promise<unknown> {
  const module = (await import(join(folder, 'extensions/rules.ts'))) as Record<string, Run>;
  try {
    await module[name]?.(...args);
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

async function importError(path: string): Promise<unknown> {
  return import(join(folder, path)).then(
    () => 'it was loaded',
    (error: unknown) => error,
  );
}

const locate = locateIn([folder], noSecrets);
const at = (file: string, line: number, column: number) => ({ file, line, column });

describe('the place where bundle code threw', () => {
  test('is in the TypeScript source, relative to the folder', async () => {
    expect(locate(await thrownBy('own')).place).toEqual(at('extensions/rules.ts', 6, 16));
  });

  test('is masked where the name of its file contains a secret', async () => {
    const hiding = locateIn([folder], maskSecrets(['rules.ts']));
    expect(hiding(await thrownBy('own')).place).toEqual(at('extensions/***', 6, 16));
  });

  test('is in the imported file, when that threw', async () => {
    const { place, stack } = locate(await thrownBy('imported'));
    expect(place).toEqual(at('extensions/lib/check.ts', 3, 3));
    expect(stack).toContain('    at check (extensions/lib/check.ts:3:3)\n    at imported (extensions/rules.ts:9:');
  });

  test('is in the file of the bundle, not in the package that it called', async () => {
    const { place, stack } = locate(await thrownBy('packaged'));
    expect(place).toMatchObject({ file: 'extensions/rules.ts', line: 10 });
    expect(stack).toStartWith('TypeError: cannot parse ?\n    at packaged (extensions/rules.ts:10:');
    expect(stack).toContain('    at parse (node_modules/acme-parser/index.js:2:');
  });

  test('is unknown when a library of goondan called the package that threw', async () => {
    const { start } = (await import(join(folder, 'node_modules/@goondan/base/index.js'))) as Record<string, Run>;
    const thrown = await (async () => start?.('?'))().catch((error: unknown) => error);
    const { place, stack } = locate(thrown);
    expect(place).toBeUndefined();
    expect(stack).toContain('    at parse (node_modules/acme-parser/index.js:2:');
    expect(stack).toContain('    at start (node_modules/@goondan/base/index.js:3:');
  });

  test('is the call of goondan, when goondan threw', async () => {
    const call = async () => {
      await Bun.sleep(0);
      throw new Error('not like this');
    };
    const { place, stack } = locate(await thrownBy('awaited', call));
    expect(place).toMatchObject({ file: 'extensions/rules.ts', line: 12 });
    // This test file counts as Goondan's own code.
    expect(stack).toMatch(/\n {4}… \d+ frames? of goondan$/);
    expect(stack).not.toContain('.test.ts');
  });

  test('is the last throw; its cause follows', async () => {
    const { place, stack } = locate(await thrownBy('wrapped'));
    expect(place).toMatchObject({ file: 'extensions/rules.ts', line: 15 });
    expect(stack).toContain(
      '\ncaused by ReferenceError: nope is not defined\n    at check (extensions/lib/check.ts:3:3)',
    );
  });

  test('is that of the cause, when an error of ours wraps it', async () => {
    const wrapped = new Error('it cannot be loaded', { cause: await thrownBy('own') });
    const { place, stack } = locate(wrapped);
    expect(place).toEqual(at('extensions/rules.ts', 6, 16));
    expect(stack).toStartWith('ReferenceError: rulez is not defined');
  });

  test('is that of the first syntax error of a module', async () => {
    await write('extensions/broken.ts', `export const one = 1;`, `export const rules = {;`);
    await write('extensions/imports-broken.ts', `import './broken.ts';`);
    for (const path of ['extensions/broken.ts', 'extensions/imports-broken.ts']) {
      expect(locate(await importError(path)).place).toEqual(at('extensions/broken.ts', 2, 23));
    }
  });

  test('is the import of a missing module', async () => {
    await write('extensions/lost.ts', ``, `import { rule } from './nowhere.ts';`, `export const rules = [rule];`);
    expect(locate(await importError('extensions/lost.ts')).place).toEqual(at('extensions/lost.ts', 2, 22));
  });

  test('is that of an error thrown while a module is evaluated', async () => {
    await write('extensions/early.ts', ``, `throw new Error('too early');`);
    expect(locate(await importError('extensions/early.ts')).place).toMatchObject({
      file: 'extensions/early.ts',
      line: 2,
    });
  });

  test('is relative to a folder that is reached through a link', async () => {
    const link = join(root, 'link');
    symlinkSync(folder, link);
    expect(locateIn([link], noSecrets)(await thrownBy('own')).place?.file).toBe('extensions/rules.ts');
  });

  test.each([
    ['a text', 'oops'],
    ['nothing', undefined],
    ['null', null],
    ['an error of ours', new Error('ours')],
  ])('is unknown for %s', (_title, thrown) => {
    expect(locate(thrown)).toEqual({});
  });

  test('is unknown for a value that throws when it is read', () => {
    const hostile = new Proxy(
      {},
      {
        get() {
          throw new Error('no');
        },
      },
    );
    expect(locate(hostile)).toEqual({});
  });

  const revoked = Proxy.revocable([], {});
  revoked.revoke();
  const refusing = Object.defineProperty([new Error('x')], 0, {
    get() {
      throw new Error('no');
    },
  });
  test.each<[string, object]>([
    ['errors that are gone', { errors: revoked.proxy }],
    ['errors that refuse to be looked at', { errors: refusing }],
    ['a position that is not one', { position: { file: 'input.css', line: 3, column: 1 } }],
    ['a position outside of every file', { position: { file: '/a.ts', line: -1, column: Number.NaN } }],
  ])('is known for an error with %s', async (_title, fields) => {
    const error = Object.assign((await thrownBy('own')) as Error, fields);
    expect(locate(error).place).toEqual(at('extensions/rules.ts', 6, 16));
    expect(loadProblem(error, folder)).toBe(error.message);
  });

  test.each<[string, string]>([
    ['a file of another machine', 'at f (file://server/a.ts:1:1)'],
    ['a URL of no file', 'at f (file:///a%2fb.ts:1:1)'],
    ['a line that nobody can count to', 'at f (/a.ts:99999999999999999999:1)'],
    ['a long line', `at${' ('.repeat(32_000)}`],
  ])('is known for a stack with %s', async (_title, frame) => {
    const error = (await thrownBy('own')) as Error;
    error.stack = `${error.name}: ${error.message}\n    ${frame}\n${error.stack?.replace(/^.*\n/, '')}`;
    const before = usedMs();
    expect(locate(error).place).toEqual(at('extensions/rules.ts', 6, 16));
    expect(usedMs() - before).toBeLessThan(1_000);
  });
});

describe('the stack of an error of bundle code', () => {
  test('names no folder of the machine', async () => {
    for (const name of ['own', 'imported', 'packaged', 'wrapped']) {
      expect(locate(await thrownBy(name)).stack).not.toContain(root);
    }
  });

  test('has no frames that are only in the message', () => {
    const error = new Error(`x\n    at fake (${folder}/extensions/fake.ts:1:1)`);
    expect(locate(error)).toEqual({});
  });

  test('is masked before it is cut', async () => {
    const secret = 'open-sesame-'.repeat(5);
    const error = (await thrownBy('own')) as Error;
    error.message = `${'x'.repeat(480)}${secret}`;
    const { stack } = locateIn([folder], maskSecrets([secret]))(error);
    expect(stack).toContain('***');
    expect(stack).not.toContain('open-sesame');
  });

  test('has at most 20 frames and 4 KB', async () => {
    const before = Error.stackTraceLimit;
    Error.stackTraceLimit = 100;
    const thrown = await thrownBy('deep', 60).finally(() => (Error.stackTraceLimit = before));
    const { stack = '' } = locate(thrown);
    expect(stack.match(/\n {4}at /g)).toHaveLength(20);
    expect(stack).toMatch(/\n {4}… \d+ frames\n/);
    const causes = Array.from({ length: 5 }, () => Object.assign(thrown as Error, {}));
    const long = locateIn([folder], (text) => text.replaceAll('deep', 'd'.repeat(900)))(new AggregateError(causes));
    expect(long.stack?.length).toBeLessThan(4_200);
  });
});
