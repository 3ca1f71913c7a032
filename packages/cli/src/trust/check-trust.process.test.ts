// Tests with real agents: the question for trust, and the remembered trust in a folder. (`hostile-folder.test.ts` tests
// the other answers.)
import { describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isTrusted, rememberTrust } from '@goondan/runtime/bundle';
import { openPlace } from '../testing/open-place.ts';
import { sampleBundle, tellTale } from '../testing/sample-bundle.ts';

const place = openPlace();

const hello = ['--input', 'Hello'];
const answered = { stdout: 'You said: Hello\n', stderr: '', exitCode: 0 };

describe('trust', () => {
  test('--trust is not remembered', async () => {
    const mark = await plant('bundle');
    expect(await place.run('run', 'bundle', '--trust', ...hello)).toEqual(answered);
    expect(takeMark(mark)).toBe(true);
    expect(existsSync(join(place.stateRoot, 'trusted'))).toBe(false);
    await expectRefused('bundle', mark);
  });

  test('is for the target of a link, not for the link', async () => {
    const marks = [await plant('one'), await plant('other')];
    symlinkSync('one', join(place.folder, 'link'));
    await sayYes('link');
    expect(marks.map(takeMark)).toEqual([true, false]);
    expect(await place.run('run', 'link', ...hello)).toEqual(answered);
    expect(marks.map(takeMark)).toEqual([true, false]);
    await expectTrusted('./other/../one', marks[0] ?? '');
    expect(marks.map(takeMark)).toEqual([false, false]);

    rmSync(join(place.folder, 'link'));
    symlinkSync('other', join(place.folder, 'link'));
    await expectRefused('link', marks[1] ?? '', 'other');
    await expectRefused('other', marks[1] ?? '');
  });

  test('is for a path: later contents are trusted, a moved folder is not', async () => {
    const mark = await plant('bundle');
    await trust('bundle');
    renameSync(join(place.folder, 'bundle'), join(place.folder, 'moved'));
    await expectRefused('moved', mark);
    await expectTrusted('bundle', await plant('bundle', 'another'));
  });

  test('is not for folders inside, beside or above it', async () => {
    await plant('bundle');
    await trust('bundle');
    for (const name of ['bundle/inner', 'bundle2', '.']) await expectRefused(name, await plant(name, 'near'));
  });

  test('is kept for each state root separately', async () => {
    const mark = await plant('bundle');
    await trust('bundle');
    const { exitCode } = await place.run('run', 'bundle', ...hello, '--state-root', join(place.folder, 'state-2'));
    expect({ exitCode, ran: takeMark(mark) }).toEqual({ exitCode: 3, ran: false });
  });

  test.each([
    ['empty', ''],
    ['cut off', '{"folder":"/'],
    ['about another folder', '{"folder":"/"}'],
  ])('a file that is %s: asks again, and then the file is complete', async (_name, text) => {
    const mark = await plant('bundle');
    await trust('bundle');
    const [file = '', ...others] = readdirSync(join(place.stateRoot, 'trusted'));
    expect(others).toEqual([]);
    writeFileSync(join(place.stateRoot, 'trusted', file), text);
    await expectRefused('bundle', mark);
    await trust('bundle');
    await expectTrusted('bundle', mark);
  });

  test('a file that cannot be read: an error in one line, and nothing runs', async () => {
    const mark = await plant('bundle');
    await trust('bundle');
    const [file = ''] = readdirSync(join(place.stateRoot, 'trusted'));
    rmSync(join(place.stateRoot, 'trusted', file));
    mkdirSync(join(place.stateRoot, 'trusted', file));
    const { stdout, stderr, exitCode } = await place.run('run', 'bundle', ...hello);
    expect(stderr.split('\n')).toEqual([expect.stringMatching(/^E_STORE_READ: .*trusted/), expect.any(String), '']);
    expect({ stdout, exitCode, ran: takeMark(mark) }).toEqual({ stdout: '', exitCode: 1, ran: false });
  });

  test.each([
    ['where nothing can be written', '/proc/nowhere', 'E_STORE_WRITE', 1],
    ['in a file', 'file/state', 'E_STATE_ROOT', 3],
  ])('a state root %s: an error in one line, and nothing runs', async (_name, path, code, expected) => {
    const mark = await plant('bundle');
    await place.write('.', { file: '' });
    const root = ['--state-root', resolve(place.folder, path)];
    const yes = { whenSeen: '[y/N] ', keys: 'y\r' };
    const { screen, exitCode } = await place.runOnTerminal(['run', 'bundle', ...hello, ...root], [yes]);
    const trusted = await place.run('run', 'bundle', '--trust', ...hello, ...root);
    for (const said of [screen, trusted.stderr]) {
      expect(said.trimEnd().split('\n').slice(-2)).toEqual([
        expect.stringMatching(new RegExp(`^${code}: .*(/proc/nowhere|file/state)`)),
        expect.stringMatching(/^[A-Z].*\.$/),
      ]);
    }
    expect([exitCode, trusted.exitCode]).toEqual([expected, expected]);
    expect(takeMark(mark)).toBe(false);
  });

  test('only keys typed after the question answer it', async () => {
    const mark = await plant('bundle');
    const run = (typedAhead: string, keys: string) =>
      place.runOnTerminal(['explain', 'bundle', '--load'], [{ whenSeen: '[y/N] ', keys }], { typedAhead });
    const no = await run('y\ry', '\r');
    expect(no.screen).toContain('E_UNTRUSTED: Nothing of ');
    expect([takeMark(mark), await isTrusted(folderOf('bundle'))]).toEqual([false, false]);
    const yes = await run('n\rn', 'y\r');
    expect({ screen: yes.screen, exitCode: yes.exitCode }).toEqual({
      screen: expect.stringContaining('tell-tale'),
      exitCode: 0,
    });
    expect(takeMark(mark)).toBe(true);
  });

  test('two answers at the same time are both remembered', async () => {
    const marks = [await plant('one'), await plant('other')];
    const answers: (() => void)[] = [];
    const say = async (bundle: string) => {
      const answerTogether = (type: (keys: string) => void) => {
        answers.push(() => type('y\r'));
        if (answers.length === 3) for (const answer of answers) answer();
      };
      const typing = [{ whenSeen: '[y/N] ', onSeen: answerTogether }];
      const { screen, exitCode } = await place.runOnTerminal(['explain', bundle, '--load'], typing);
      expect({ screen, exitCode }).toEqual({ screen: expect.stringContaining('tell-tale'), exitCode: 0 });
    };
    await Promise.all([say('one'), say('one'), say('other')]);
    expect(marks.map(takeMark)).toEqual([true, true]);
    for (const bundle of ['one', 'other']) expect(await isTrusted(folderOf(bundle))).toBe(true);
    expect(readdirSync(join(place.stateRoot, 'trusted'))).toHaveLength(2);
  });
});

/** Writes a bundle whose extension creates a mark file when it is imported. Returns the path of the mark. */
async function plant(name: string, called = name): Promise<string> {
  const mark = join(place.folder, `mark-of-${called}`);
  const more = { 'goondan.yaml': sampleBundle(tellTale), 'tell-tale.ts': tellTale.module(mark) };
  await place.write(name, more);
  return mark;
}

function takeMark(mark: string): boolean {
  const isThere = existsSync(mark);
  rmSync(mark, { force: true });
  return isThere;
}

const folderOf = (name: string) => ({ stateRoot: place.stateRoot, folder: join(place.folder, name) });

/** Remembers trust as `sayYes` does, without a terminal and an agent. */
const trust = (name: string) => rememberTrust(folderOf(name));

/** Expects that the code of the bundle runs without a question. */
async function expectTrusted(name: string, mark: string): Promise<void> {
  const { stderr, exitCode } = await place.run('explain', name, '--load');
  expect({ stderr, exitCode, ran: takeMark(mark) }).toEqual({ stderr: '', exitCode: 0, ran: true });
}

async function sayYes(name: string): Promise<void> {
  const yes = { whenSeen: '[y/N] ', keys: 'y\r' };
  const { screen, exitCode } = await place.runOnTerminal(['run', name, ...hello], [yes]);
  expect({ screen, exitCode }).toEqual({ screen: expect.stringContaining('You said: Hello\n'), exitCode: 0 });
}

/** Expects that the bundle is not run without trust. `real` is the name of the real folder when `name` is a link. */
async function expectRefused(name: string, mark: string, real = name): Promise<void> {
  const { stdout, stderr, exitCode } = await place.run('run', name, ...hello);
  expect(stderr).toBe(
    `E_UNTRUSTED: The code in "${join(place.folder, real)}" is not trusted yet.\n` +
      'Review the code. Then add `--trust` to this command to trust the code once, or run ' +
      `\`gdn run ${join(place.folder, real)}\` at a terminal, where \`gdn\` asks and remembers your answer.\n`,
  );
  expect({ stdout, exitCode, ran: takeMark(mark) }).toEqual({ stdout: '', exitCode: 3, ran: false });
}
