import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const docs = join(import.meta.dir, '..', '..', '..', 'docs');

test('the page of the base library links to the page of every part', () => {
  const page = readFileSync(join(docs, 'base-library.md'), 'utf8');
  const linked = [...page.matchAll(/\]\(base\/([a-z-]+\.md)\)/g)].map(([, name]) => name);
  expect(new Set(linked)).toEqual(new Set(readdirSync(join(docs, 'base'))));
});
