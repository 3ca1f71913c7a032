import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject, ToolContext } from '@goondan/types';
import { sampleStep } from '../../../../../test/samples.ts';
import { handlers } from './index.ts';

let workdir: string;
beforeEach(() => void (workdir = mkdtempSync(join(tmpdir(), 'goondan-file-system-'))));
afterEach(() => rmSync(workdir, { recursive: true, force: true }));

/** Runs one call as the runtime does. Returns the error if the call is rejected. */
async function call(
  name: keyof typeof handlers,
  input: JsonObject,
  config: JsonObject = {},
  signal?: AbortSignal,
): Promise<Record<string, unknown>> {
  // The cast is safe: a handler of this tool uses only these fields.
  const ctx = { workdir, config, signal: signal ?? new AbortController().signal } as unknown as ToolContext;
  try {
    return (await handlers[name](ctx, input)) as JsonObject;
  } catch (error) {
    const { code, message, suggestion } = error as Record<string, unknown>;
    return { code, message, suggestion };
  }
}

const write = (path: string, content: string | Uint8Array) => {
  mkdirSync(join(workdir, path, '..'), { recursive: true });
  writeFileSync(join(workdir, path), content);
};
const text = (path: string) => readFileSync(join(workdir, path), 'utf8');

describe('read', () => {
  test('returns the lines of a file unchanged', async () => {
    write('a.txt', 'one\r\ntwo\n\nfour');
    const whole = { path: 'a.txt', text: 'one\r\ntwo\n\nfour', firstLine: 1, lines: 4 };
    expect(await call('read', { path: 'a.txt' })).toEqual(whole);
    expect(await call('read', { path: 'a.txt', lineNumbers: true, offset: 2, limit: 2 })).toEqual({
      path: 'a.txt',
      text: '     2\ttwo\n     3\t\n',
      firstLine: 2,
      lines: 2,
      nextLine: 4,
    });
  });

  test('an empty file has no lines, and a newline at the end adds none', async () => {
    write('empty', '');
    expect(await call('read', { path: 'empty' })).toEqual({ path: 'empty', text: '', firstLine: 1, lines: 0 });
    write('one', 'a\n');
    expect(await call('read', { path: 'one' })).toMatchObject({ text: 'a\n', lines: 1 });
    expect(await call('read', { path: 'one', offset: 3 })).toMatchObject({
      code: 'E_FILE_MISSING',
      message: '"one" has only 1 lines.',
    });
  });

  test('a long file comes in parts that make up the whole', async () => {
    const whole = Array.from({ length: 5_000 }, (_, index) => `line ${index} é한🙂\n`).join('');
    write('long', whole);
    const parts: string[] = [];
    for (let offset: unknown = 1; offset !== undefined;) {
      const part = await call('read', { path: 'long', offset: Number(offset) }, { readLimit: 3_000 });
      expect(Buffer.byteLength(String(part.text))).toBeLessThanOrEqual(3_000);
      parts.push(String(part.text));
      offset = part.nextLine;
    }
    expect(parts.length).toBeGreaterThan(20);
    expect(parts.join('')).toBe(whole);
  });

  test('only the beginning of a very long line is returned', async () => {
    write('wide', `${'x'.repeat(300_000)}\nnext\n`);
    const { text: given, lines } = await call('read', { path: 'wide' });
    expect(given).toBe(`${'x'.repeat(2_000)} [… 298000 more characters in this line]\nnext\n`);
    expect(lines).toBe(2);
  });

  test.each<[string, string, string]>([
    ['nowhere.txt', 'E_FILE_MISSING', 'does not exist'],
    ['folder/nowhere/x', 'E_FILE_MISSING', 'does not exist'],
    ['folder', 'E_FILE_KIND', 'is a folder, not a file'],
    ['binary', 'E_FILE_TEXT', 'is not a text file'],
    ['text/inside', 'E_FILE_KIND', 'is not a folder, or a part of the path is not a folder'],
    ['text/', 'E_FILE_KIND', 'is not a folder, or a part of the path is not a folder'],
    ['x'.repeat(256), 'E_FILE_FAILED', 'is too long a name'],
  ])('%s is rejected', async (path, code, problem) => {
    mkdirSync(join(workdir, 'folder'));
    write('binary', new Uint8Array([65, 0, 66]));
    write('text', 'a');
    const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path;
    expect(await call('read', { path })).toMatchObject({ code, message: `"${shown}" ${problem}.` });
  });
});

describe('write', () => {
  test('makes a file and its folders, and replaces an existing one', async () => {
    expect(await call('write', { path: 'a/b/c.txt', text: 'é' })).toEqual({
      path: 'a/b/c.txt',
      bytes: 2,
      created: true,
    });
    expect(await call('write', { path: 'a/b/c.txt', text: '' })).toEqual({
      path: 'a/b/c.txt',
      bytes: 0,
      created: false,
    });
    expect(text('a/b/c.txt')).toBe('');
    expect(readdirSync(join(workdir, 'a/b'))).toEqual(['c.txt']);
  });

  test('keeps the mode of a file, and leaves its second name unchanged', async () => {
    write('script', 'old');
    chmodSync(join(workdir, 'script'), 0o750);
    linkSync(join(workdir, 'script'), join(workdir, 'twin'));
    await call('write', { path: 'script', text: 'new' });
    expect(statSync(join(workdir, 'script')).mode & 0o777).toBe(0o750);
    expect([text('script'), text('twin')]).toEqual(['new', 'old']);
  });

  test('rejects a folder, too long a text, and a read-only config, and leaves nothing behind', async () => {
    mkdirSync(join(workdir, 'folder'));
    expect(await call('write', { path: 'folder', text: 'x' })).toMatchObject({ code: 'E_FILE_KIND' });
    expect(await call('write', { path: 'big', text: 'x'.repeat(11) }, { fileLimit: 10 })).toMatchObject({
      code: 'E_FILE_LIMIT',
      message: '"big" would have 11 bytes; at most 10 are allowed.',
    });
    for (const name of ['write', 'edit'] as const) {
      const input = { path: 'x/y', text: 'x', old: 'a', new: 'b' };
      expect(await call(name, input, { readOnly: true })).toMatchObject({ code: 'E_FILE_READ_ONLY' });
    }
    expect(readdirSync(workdir, { recursive: true })).toEqual(['folder']);
  });
});

describe('edit', () => {
  test('replaces a text that occurs once', async () => {
    write('a', 'one two three');
    expect(await call('edit', { path: 'a', old: 'two', new: '$& {{2}}' })).toEqual({
      path: 'a',
      replaced: 1,
      bytes: 18,
    });
    expect(text('a')).toBe('one $& {{2}} three');
    expect(await call('edit', { path: 'a', old: ' three', new: '' })).toMatchObject({ replaced: 1 });
    expect(text('a')).toBe('one $& {{2}}');
  });

  test('or every occurrence, when requested', async () => {
    write('a', 'x-x-x');
    expect(await call('edit', { path: 'a', old: 'x', new: 'xx', all: true })).toMatchObject({ replaced: 3 });
    expect(text('a')).toBe('xx-xx-xx');
  });

  test.each<[string, JsonObject, string, string]>([
    ['is missing', { old: 'nothing', new: 'x' }, '`old` is not in it', 'Read the file'],
    ['is there twice', { old: 'a', new: 'x' }, '`old` is in it 2 times', 'or set `all`'],
    ['has other line ends', { old: 'a\nb', new: 'x' }, '`old` is not in it', String.raw`end with \r\n`],
    ['is the same', { old: 'b', new: 'b' }, '`old` is the same as `new`', 'Give a different text'],
  ])('a text that %s changes nothing', async (_title, input, problem, suggestion) => {
    write('f', 'a\r\nb\r\na');
    expect(await call('edit', { path: 'f', ...input })).toEqual({
      code: 'E_FILE_EDIT',
      message: `"f": ${problem}.`,
      suggestion: expect.stringContaining(suggestion),
    });
    expect(text('f')).toBe('a\r\nb\r\na');
  });

  test('a file that is not UTF-8, or too large, stays unchanged; so does a byte order mark', async () => {
    write('latin', new Uint8Array([0xe9, 0x61]));
    expect(await call('edit', { path: 'latin', old: 'a', new: 'b' })).toMatchObject({ code: 'E_FILE_TEXT' });
    expect([...readFileSync(join(workdir, 'latin'))]).toEqual([0xe9, 0x61]);
    write('big', 'abc');
    expect(await call('edit', { path: 'big', old: 'a', new: 'b' }, { fileLimit: 2 })).toMatchObject({
      code: 'E_FILE_LIMIT',
    });
    expect(await call('edit', { path: 'big', old: 'a', new: 'bb' }, { fileLimit: 3 })).toMatchObject({
      code: 'E_FILE_LIMIT',
    });
    write('marked', '\ufeffa');
    await call('edit', { path: 'marked', old: 'a', new: 'b' });
    expect(text('marked')).toBe('\ufeffb');
  });
});

describe('list', () => {
  test('returns names and kinds in order, and the number of others', async () => {
    for (let index = 0; index < 510; index += 1) write(`many/${String(index).padStart(3, '0')}`, 'x');
    const listed = await call('list', { path: 'many' });
    expect(listed).toMatchObject({ path: 'many', more: 10 });
    expect(listed.entries).toHaveLength(500);
    expect(await call('list', {})).toEqual({ path: '.', entries: [{ name: 'many', type: 'folder' }] });
    expect(await call('list', { path: 'many/000' })).toMatchObject({ code: 'E_FILE_KIND' });
    expect(await call('list', { path: 'none' })).toMatchObject({ code: 'E_FILE_MISSING' });
  });
});

describe('search', () => {
  beforeEach(() => {
    write('src/one.ts', 'const a = 1;\nconst b = 2;\n');
    write('src/deep/two.ts', 'let c = 3;\r\nCONST D = 4;\r\n');
    write('readme.md', 'const in words\n');
    write('node_modules/x/index.ts', 'const hidden = 1;\n');
    write('.git/config', 'const hidden = 2;\n');
    write('binary.bin', new Uint8Array([...Buffer.from('const '), 0, 1]));
  });

  test('finds lines with their places; files that are not text are counted', async () => {
    expect(await call('search', { pattern: '^const \\w' })).toEqual({
      matches: [
        { path: 'readme.md', line: 1, text: 'const in words' },
        { path: 'src/one.ts', line: 1, text: 'const a = 1;' },
        { path: 'src/one.ts', line: 2, text: 'const b = 2;' },
      ],
      skipped: 1,
    });
    expect(await call('search', { pattern: 'const d', ignoreCase: true, path: 'src' })).toEqual({
      matches: [{ path: 'src/deep/two.ts', line: 2, text: 'CONST D = 4;' }],
    });
  });

  test('finds files by name or path', async () => {
    const one = { path: 'src/one.ts' };
    const two = { path: 'src/deep/two.ts' };
    expect(await call('search', { glob: '*.ts' })).toEqual({ matches: [two, one] });
    expect(await call('search', { glob: 'src/*.ts' })).toEqual({ matches: [one] });
    expect(await call('search', { glob: '**/deep/*' })).toEqual({ matches: [two] });
    expect(await call('search', { glob: '*.ts', pattern: 'let' })).toMatchObject({ matches: [{ path: two.path }] });
    expect(await call('search', { glob: '*.ts' }, { skip: ['src'] })).toEqual({
      matches: [{ path: 'node_modules/x/index.ts' }],
    });
  });

  test('stops at its limit, and reports it', async () => {
    expect(await call('search', { pattern: 'const', limit: 1 })).toEqual({
      matches: [{ path: 'readme.md', line: 1, text: 'const in words' }],
      skipped: 1,
      stopped: 'limit',
    });
    expect(await call('search', { glob: '*.ts' }, { fileLimit: 1 })).toMatchObject({ matches: [{}, {}] });
    expect(await call('search', { pattern: 'const' }, { fileLimit: 1 })).toEqual({ matches: [], skipped: 4 });
  });

  test('shows the part of a long line around the match', async () => {
    write('wide.txt', `${'x'.repeat(5_000)}needle${'y'.repeat(5_000)}`);
    const { matches } = await call('search', { pattern: 'needle' });
    expect(matches).toEqual([{ path: 'wide.txt', line: 1, text: `…${'x'.repeat(50)}needle${'y'.repeat(244)}…` }]);
  });

  test('an endless expression runs until its deadline, and earlier matches are returned', async () => {
    write('0.txt', 'aaaa!\n');
    // Bun gives up on such a line after a second or two.
    write('slow.txt', `${'a'.repeat(60)}b\n`.repeat(100));
    const startedAt = performance.now();
    const searchTimeoutMs = sampleStep === 1 ? 3_000 : 2_000;
    expect(await call('search', { pattern: '^(a+)+!$', glob: '*.txt' }, { searchTimeoutMs })).toEqual({
      matches: [{ path: '0.txt', line: 1, text: 'aaaa!' }],
      stopped: 'time',
    });
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  }, 30_000);

  test('is ended when the turn is cancelled', async () => {
    write('slow.txt', `${'a'.repeat(60)}b\n`.repeat(100));
    const cancel = new AbortController();
    const searching = call('search', { pattern: '^(a+)+$' }, { searchTimeoutMs: 60_000 }, cancel.signal);
    await Bun.sleep(200);
    cancel.abort(new Error('cancelled by a test'));
    expect(await searching).toMatchObject({ message: 'cancelled by a test' });
  }, 30_000);

  test.each<[string, JsonObject, string]>([
    ['nothing to look for', {}, 'E_FILE_PATTERN'],
    ['no expression', { pattern: '(' }, 'E_FILE_PATTERN'],
    ['no folder', { pattern: 'x', path: 'readme.md' }, 'E_FILE_KIND'],
    ['a folder outside', { pattern: 'x', path: '..' }, 'E_FILE_OUTSIDE'],
    ['a missing folder', { pattern: 'x', path: 'none/none' }, 'E_FILE_MISSING'],
  ])('%s is rejected', async (_title, input, code) => {
    expect(await call('search', input)).toMatchObject({ code });
  });
});

describe('the folder', () => {
  test('is the working folder, or the one that the config names', async () => {
    write('inner/a', 'inside');
    write('b', 'beside');
    expect(await call('read', { path: 'a' }, { root: 'inner' })).toMatchObject({ path: 'a', text: 'inside' });
    expect(await call('read', { path: '../b' }, { root: 'inner' })).toMatchObject({ code: 'E_FILE_OUTSIDE' });
    expect(await call('read', { path: join(workdir, 'b') }, { root: 'inner' })).toMatchObject({
      code: 'E_FILE_OUTSIDE',
    });
    expect(await call('read', { path: join(workdir, 'b') })).toMatchObject({ text: 'beside' });
  });

  test('may be the root of the system', async () => {
    expect(await call('list', {}, { root: '/' })).toMatchObject({ path: '.' });
    expect(await call('read', { path: '/etc/passwd', limit: 1 }, { root: '/' })).toMatchObject({ path: 'etc/passwd' });
  });

  test('leaves no descriptor open', async () => {
    write('a/b/c', 'x');
    const before = readdirSync('/proc/self/fd').length;
    for (let index = 0; index < 50; index += 1) {
      await call('read', { path: 'a/b/c' });
      await call('read', { path: 'a/b/c/d' });
      await call('read', { path: 'a/../../x' });
      await call('write', { path: 'a/b/c', text: 'y' });
      await call('list', { path: 'a/b' });
    }
    expect(readdirSync('/proc/self/fd').length).toBeLessThan(before + 10);
  });
});
