import { expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { answerFile, readPageFiles } from './page-files.ts';

const root = temporaryFolder();

function folderWith(...names: readonly string[]): string {
  const folder = mkdtempSync(join(root, 'page-'));
  for (const name of names) writeFileSync(join(folder, name), name);
  return folder;
}

test('the built page is next to the sources, and loads only its own files', async () => {
  const files = readPageFiles();
  const page = new TextDecoder().decode(files.get('/')?.bytes);
  const loaded = [...page.matchAll(/(?:src|href)="\.?(\/[^"]+)"/g)].map(([, path = '']) => path);
  expect(loaded.length).toBeGreaterThan(0);
  for (const path of loaded) expect([...files.keys()]).toContain(path);
  for (const [path, file] of files) expect([path, file.isHashed]).toEqual([path, path !== '/']);
});

test('every file has its type, and files of other types are left out', async () => {
  const folder = folderWith('index.html', 'chunk-abcd1234.js', 'icon.png', 'plain.css', 'x.map', '.env');
  mkdirSync(join(folder, 'more'));
  const files = readPageFiles(folder);
  expect([...files.keys()].toSorted()).toEqual(['/', '/chunk-abcd1234.js', '/icon.png', '/plain.css']);
  const plain = files.get('/plain.css');
  const answer = plain && answerFile(plain);
  expect(answer?.headers.get('content-type')).toBe('text/css; charset=utf-8');
  expect(answer?.headers.get('cache-control')).toBeNull();
  expect(await answer?.text()).toBe('plain.css');
});

test('without a built page Studio does not start', () => {
  for (const folder of [folderWith('chunk-abcd1234.js'), '/nowhere']) {
    expect(() => readPageFiles(folder)).toThrow(expect.objectContaining({ code: 'E_STUDIO_PAGE' }));
  }
});
