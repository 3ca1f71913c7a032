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
  const { turns } = JSON.parse(stdout) as { turns: { events: { took?: { eventId: string }; author: object }[] }[] };
  expect(turns).toHaveLength(1);
  const taken = turns[0]?.events.filter(({ took }) => took !== undefined);
  expect(taken).toMatchObject([{ author: { kind: 'input', from: { kind: 'cli', name: 'gdn' } } }]);

  // The id of an input that a turn took means this turn in every command.
  const typed = /^event-(.{12})/.exec(taken?.[0]?.took?.eventId ?? '')?.[1] ?? '';
  const run = (...line: string[]) => place.run(...line, '--bundle', 'library');
  const traced = await run('trace', typed);
  expect(traced.stderr).toMatch(
    /^The input [\da-f-]+ has no turn of its own: turn [\da-f-]+ took it while it ran\.\n$/,
  );
  expect(traced.stdout).toBe((await run('trace', 'last')).stdout);
  const at = await run('history', 'reader', 'default', '--at', typed);
  expect(at.stdout).toContain('user  The newest one is enough');
  expect(at.stderr).toContain(' took it while it ran.');
  expect((await run('replay', typed, '--trust')).stdout).toBe((await run('replay', 'last', '--trust')).stdout);
}, 120_000);
