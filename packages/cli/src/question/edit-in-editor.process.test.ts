import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { editInEditor } from './edit-in-editor.ts';
import { until } from '../../../../test/until.ts';

const { TMPDIR } = process.env;
let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(TMPDIR ?? tmpdir(), 'gdn-')));
  process.env['TMPDIR'] = folder;
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  if (TMPDIR === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = TMPDIR;
});

const { signal } = new AbortController();

test('the editor gets a private file, whose text is the result; nothing is left', async () => {
  const EDITOR = `stat -c %a >"${folder}/mode" "$1"; sed -i s/a/b/`;
  expect(await editInEditor('{ "a": 1 }', { EDITOR }, signal)).toBe('{ "b": 1 }\n');
  expect(readFileSync(join(folder, 'mode'), 'utf8')).toBe('600\n');
  expect(readdirSync(folder)).toEqual(['mode']);
});

test('$VISUAL wins over $EDITOR; an editor that fails is an error that says what to set', async () => {
  const failure = await editInEditor('', { VISUAL: 'exit 7 #', EDITOR: 'true' }, signal).catch(
    (error: unknown) => error,
  );
  expect(failure).toMatchObject({ code: 'E_USAGE', message: 'The editor "exit 7 #" ended with exit code 7.' });
  expect(readdirSync(folder)).toEqual([]);
});

test('Ctrl-C ends the editor, and removes its file', async () => {
  const controller = new AbortController();
  const edited = editInEditor('text', { EDITOR: `touch "${folder}/begun"; exec sleep 60 #` }, controller.signal);
  await until(() => readdirSync(folder).includes('begun'));
  expect(readdirSync(folder)).toHaveLength(2);
  controller.abort();
  expect(await edited).toBeUndefined();
  expect(readdirSync(folder)).toEqual(['begun']);
});
