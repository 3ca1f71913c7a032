import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { findMentions, readMentions } from './read-mentions.ts';

const folder = temporaryFolder();
for (const name of ['cat.png', 'my notes.txt']) writeFileSync(join(folder, name), `the bytes of ${name}`);

test.each([
  ['look at @cat.png', 'look at cat.png', ['cat.png']],
  ['@cat.png and @"my notes.txt"', 'cat.png and my notes.txt', ['cat.png', 'my notes.txt']],
  ['write to a@b.example or @@kim', 'write to a@b.example or @kim', []],
  ['@ alone', '@ alone', []],
  ['my cat (@cat.png)', 'my cat (cat.png)', ['cat.png)']],
  ['"@cat.png", [@"my notes.txt"]', '"cat.png", [my notes.txt]', ['cat.png",', 'my notes.txt']],
  ['(@@kim) and a@@b.example', '(@kim) and a@@b.example', []],
  ['constructor(@Inject() cat) in `@cat.png`', 'constructor(@Inject() cat) in `@cat.png`', []],
  ['run `npm i @scope/pkg` please', 'run `npm i @scope/pkg` please', []],
  ['``a ` @b "c`` and @cat.png', '``a ` @b "c`` and cat.png', ['cat.png']],
  ['```\n@Inject() @@kim @"c\n``` @cat.png', '```\n@Inject() @@kim @"c\n``` cat.png', ['cat.png']],
  ['a lone ` before @cat.png', 'a lone ` before cat.png', ['cat.png']],
  ['@"my `notes`.txt"', 'my `notes`.txt', ['my `notes`.txt']],
])('Y-02 %p names files', (text, input, paths) => {
  expect(findMentions(text)).toEqual({ input, paths });
});

test('Y-02 named files are read, also before the end of a sentence, a bracket or a quote', async () => {
  expect(await readMentions(['cat.png?', 'cat.png).', 'cat.png",', 'my notes.txt'], folder)).toMatchObject([
    { type: 'image', mediaType: 'image/png', filename: 'cat.png' },
    { filename: 'cat.png' },
    { filename: 'cat.png' },
    { type: 'file', mediaType: 'text/plain', filename: 'my notes.txt' },
  ]);
});

test('Y-02 ~/ is the home folder', async () => {
  expect(await readMentions(['~/cat.png?'], '/nowhere', folder)).toMatchObject([{ filename: 'cat.png' }]);
});

test.each(['look at @"cat.png', '@"', '(@"my notes.txt and more'])('Y-02 %p has a quote that is not closed', (text) => {
  expect(() => findMentions(text)).toThrow('The quote after @ is not closed: @"');
});

test('Y-02 an empty file has a hint of its own', async () => {
  writeFileSync(join(folder, 'empty.txt'), '');
  const error = await readMentions(['empty.txt'], folder).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ suggestion: 'Name a file with content, or leave it out.' });
});

test('Y-02 a missing file is an error with its name and the escape', async () => {
  expect(await readMentions(['dog.png).'], folder).catch((error: unknown) => error)).toMatchObject({
    code: 'E_USAGE',
    message: 'The file dog.png does not exist.',
    suggestion: 'Check the path, or write @@ for an @ that is not a file.',
  });
});

test.each([
  // A named pipe, too: to open one that nobody writes to would take forever.
  ['/dev/null', 'The file /dev/null is not a file.'],
  ['empty.txt', 'The file empty.txt is empty.'],
])('Y-02 %s is an error that names it', async (path, message) => {
  writeFileSync(join(folder, 'empty.txt'), '');
  const error = await readMentions([path, 'cat.png'], folder).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'E_USAGE', message });
});
