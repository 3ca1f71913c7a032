import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { completeInput } from './complete-input.ts';

const many = Array.from({ length: 105 }, (_, index) => `x${index}`);
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gdn-'));
  mkdirSync(join(folder, 'pictures'));
  const names = 'pictures/a.png|my cat.png|my dog.png|plan.md|.env|a"b|a\rb|two@2x|pictures/@b';
  for (const name of names.split('|')) writeFileSync(join(folder, name), '');
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each<[typed: string, completed: string | undefined, candidates?: string[]]>([
  ['/he', '/help '],
  ['/', '/', expect.arrayContaining(['/agent', '/usage'])],
  ['/x', undefined],
  ['say /he', undefined],
  ['/agent re', '/agent re', ['reader', 'researcher']],
  ['/agent rea', '/agent reader '],
  ['/agent x', '/agent x', [...many.slice(0, 100), '… 5 more']],
  ['see @pl', 'see @plan.md '],
  ['(@pictures/a', '(@pictures/a.png '],
  ['@pictures/@', '@pictures/@b '],
  ['@two@', '@two@2x '],
  ['@pi', '@pictures/'],
  ['@m', '@"my ', ['my cat.png', 'my dog.png']],
  ['@"my c', '@"my cat.png" '],
  ['@', '@', ['my cat.png', 'my dog.png', 'pictures/', 'plan.md', 'two@2x']],
  ['@.', '@.env '],
  ['@~/pl', '@~/plan.md '],
  ['@nowhere/', undefined],
  ['me@pl', undefined],
  ['@@', undefined],
  ['hello', undefined],
])('%j becomes %j', async (typed, before, candidates = []) => {
  const found = await completeInput(typed, ['reader', 'researcher', ...many], folder, folder);
  expect(found).toEqual(before === undefined ? undefined : { before, candidates });
});
