// Follows docs/steering.md: its example runs, and its turn can be replayed.
import { afterAll, expect, test } from 'bun:test';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { GdnPlace } from '../../packages/cli/src/testing/gdn-place.ts';
import { followPage } from '../follow-page.ts';
import { repository } from '../read-repository.ts';

const place = new GdnPlace();
afterAll(async () => expect(await place.remove()).toEqual([]), 60_000);

test('Y-08 docs/steering.md: every command works', async () => {
  symlinkSync(join(repository, 'node_modules'), join(place.folder, 'node_modules'));
  await followPage('docs/steering.md', place);
  const { stdout } = await place.run('history', 'reader', 'default', '--bundle', 'library', '--json');
  const { turns } = JSON.parse(stdout) as { turns: { events: { took?: object; author: object }[] }[] };
  expect(turns).toHaveLength(1);
  const taken = turns[0]?.events.filter(({ took }) => took !== undefined);
  expect(taken).toMatchObject([{ author: { kind: 'input', from: { kind: 'cli', name: 'gdn' } } }]);
}, 120_000);
