import { afterEach, beforeEach, expect, test } from 'bun:test';
import { GdnPlace } from '../packages/cli/src/testing/gdn-place.ts';
import { followPage } from './follow-page.ts';

let place: GdnPlace;
beforeEach(() => void (place = new GdnPlace()));
afterEach(async () => expect(await place.remove()).toEqual([]), 60_000);

test(
  'Y-01 docs/structured-output.md: every command works',
  () => followPage('docs/structured-output.md', place),
  60_000,
);
