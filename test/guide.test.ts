import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { GdnPlace } from '../packages/cli/src/testing/gdn-place.ts';
import { followPage, readSteps } from './follow-page.ts';
import { listRepository } from './read-repository.ts';

let place: GdnPlace;
beforeEach(() => void (place = new GdnPlace()));
// Long enough to end what a page leaves running when one of its commands fails.
afterEach(async () => expect(await place.remove()).toEqual([]), 60_000);

describe('the guide and the pages of the base library', () => {
  test.each(listRepository('docs/{guide,base}/*.md'))(
    '%s: every command works',
    async (path) => {
      await followPage(path, place);
    },
    120_000,
  );

  test('is read block by block', () => {
    const text =
      '```sh\ngdn a\ngdn b | cat\n```\n\n```ts x/y.ts z/y.ts\ncode\n```\n\n```yaml\nno: file\n```\n\n```text\nanswer\n```\n';
    expect(readSteps(text)).toEqual([
      { does: 'type', command: 'gdn a' },
      { does: 'type', command: 'gdn b | cat' },
      { does: 'write', source: 'x/y.ts', file: 'z/y.ts', text: 'code\n' },
      { does: 'read', text: 'answer\n' },
    ]);
  });
});
