import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { GdnPlace } from '../packages/cli/src/testing/gdn-place.ts';
import { change, followPage, readPage, readSteps } from './follow-page.ts';
import { listRepository, repository } from './read-repository.ts';
import { sampledCases, sampleStep } from './samples.ts';

let place: GdnPlace;
beforeEach(() => {
  place = new GdnPlace();
  // The reader works in a clone after `npm ci`.
  symlinkSync(join(repository, 'node_modules'), join(place.folder, 'node_modules'));
});
// This leaves enough time to end the processes of a page whose command failed.
afterEach(async () => expect(await place.remove()).toEqual([]), 60_000);

const firstPage = 'docs/guide/getting-started.md';

describe('the guide, the pages of the base library, and the ones about replays, v0.10 and prompts', () => {
  const guide = listRepository('docs/guide/*.md');
  const others = [...listRepository('docs/base/*.md'), 'docs/replay.md', 'docs/v010.md', 'docs/prompt.md'];
  // This page is short, and its numbers are exact.
  const always = ['docs/usage.md'];
  // Only `npm run proof` runs the commands of all pages. Each part of the base library has its own tests.
  const followed = [...always, ...sampledCases(guide, 4), ...(sampleStep === 1 ? others : [])];
  const read = [...guide, ...others].filter((path) => !followed.includes(path));

  test.each(followed)(
    '%s: every command works',
    async (path) => {
      // The first page runs through a real shell and the launcher. The other pages need not test these again.
      await followPage(path, place, { isReal: path === firstPage });
    },
    120_000,
  );

  test.each(read)('%s: its files are those of the repository, and its bundles have no errors', async (path) => {
    await readPage(path, place);
  });

  test('begins with a page that is typed into a shell', () => {
    expect(followed).toContain(firstPage);
  });

  test('is read block by block', () => {
    const text =
      '```sh\ngdn a\ngdn b | cat\n```\n\n```ts x/y.ts z/y.ts\ncode\n```\n\n```yaml\nno: file\n```\n\n```text\nanswer\n```\n\n' +
      '```diff z/y.ts\n same\n-old\n+new\n```\n';
    expect(readSteps(text)).toEqual([
      { does: 'type', command: 'gdn a' },
      { does: 'type', command: 'gdn b | cat' },
      { does: 'write', source: 'x/y.ts', file: 'z/y.ts', text: 'code\n' },
      { does: 'read', text: 'answer\n' },
      { does: 'change', file: 'z/y.ts', before: 'same\nold\n', after: 'same\nnew\n' },
    ]);
  });

  test('changes the lines of a file at their place, once', () => {
    const step = { file: 'y', before: 'same\nold\n', after: 'same\nnew\n' };
    expect(change('first\nsame\nold\nlast\n', step)).toBe('first\nsame\nnew\nlast\n');
    expect(() => change('nothing\n', step)).toThrow('y has the lines 0 times');
    expect(() => change('same\nold\nsame\nold\n', step)).toThrow('y has the lines 2 times');
  });
});
