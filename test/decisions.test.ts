// Checks the numbers of the decision pages.
import { describe, expect, test } from 'bun:test';
import { posix } from 'node:path';
import { readRepository } from './read-repository.ts';

const pages = readRepository('docs/decisions/0*.md').map(({ path, text }) => ({
  name: posix.basename(path),
  number: posix.basename(path).slice(0, 4),
  heading: text.split('\n')[0] ?? '',
}));
const [list] = readRepository('docs/decisions/README.md');
const rows = [...(list?.text ?? '').matchAll(/^\| (\d{4}) +\| \[.*\]\((.*)\) *\|$/gm)];

describe('the decision pages', () => {
  test('D-26 have their own number in the heading', () => {
    expect(pages.length).toBeGreaterThan(30);
    expect(pages.filter(({ number, heading }) => !heading.startsWith(`# ${number} · `))).toEqual([]);
  });

  test('D-26 have a number each, and are listed under it', () => {
    expect(new Set(pages.map(({ number }) => number)).size).toBe(pages.length);
    const listed = rows.map(([, number, name]) => `${number} ${name}`);
    expect(listed.toSorted()).toEqual(pages.map(({ number, name }) => `${number} ${name}`).toSorted());
  });
});
