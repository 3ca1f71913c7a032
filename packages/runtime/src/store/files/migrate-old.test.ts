import { afterAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../ports/clock.ts';
import { systemFs } from '../../ports/fs.ts';
import { systemProcesses } from '../../ports/processes.ts';
import { keptFolder } from '../../workspace/layout/kept-workspace.ts';
import { writeOldRoot } from '../../../../../test/format-1/write-old-root.ts';
import { rejectionOf } from '../../workspace/simulation/rejection-of.ts';
import { compactFiles } from './compact-files.ts';
import { migrateOld } from './migrate-old.ts';

const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-old-'));
const changedRoot = mkdtempSync(join(tmpdir(), 'goondan-old-'));
afterAll(() => [stateRoot, changedRoot].forEach((root) => rmSync(root, { recursive: true, force: true })));

test('an old workspace is migrated once, and its old files are removed a week later, unless they are in use', async () => {
  writeOldRoot(stateRoot);
  const messages: string[] = [];
  const kept = join(keptFolder(stateRoot), 'workspaces/shop');
  const owner = { ...systemProcesses.self(), holder: 'older' };
  for (const [day, isThere, user] of [
    [0, true, null],
    [6, true, null],
    [8, true, owner],
    [9, false, null],
  ] as const) {
    if (day > 0) writeFileSync(join(kept, 'orchestrator.json'), JSON.stringify({ epoch: 1, owner: user }));
    const clock = { ...systemClock, now: () => new Date(Date.now() + day * 24 * 3_600_000) };
    const warn = ({ message }: { readonly message: string }) => void messages.push(message);
    await migrateOld({ fs: systemFs, clock, processes: systemProcesses, warn }, { stateRoot, workspaceId: 'shop' });
    expect(existsSync(kept)).toBe(isThere);
  }
  const root = keptFolder(stateRoot);
  expect(messages).toEqual([
    `migrated 14 conversations to format 2. The old files are kept in ${root} for 7 days; ` +
      `to go back, run the older version with \`--state-root ${root}\`.`,
  ]);
});

test('old files stay if an older version has made turns in them since the migration', async () => {
  writeOldRoot(changedRoot);
  const place = { stateRoot: changedRoot, workspaceId: 'shop' };
  const messages: string[] = [];
  const warn = ({ message }: { readonly message: string }) => void messages.push(message);
  const migrate = (day: number) => {
    const clock = { ...systemClock, now: () => new Date(Date.now() + day * 24 * 3_600_000) };
    return migrateOld({ fs: systemFs, clock, processes: systemProcesses, warn }, place);
  };
  await migrate(0);
  const instances = join(keptFolder(changedRoot), 'workspaces/shop/instances');
  const [file = ''] = readdirSync(instances, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('metadata.json'),
  );
  const later = new Date(Date.now() + 60_000);
  utimesSync(join(instances, file), later, later);
  await migrate(9);
  expect(existsSync(join(instances, file))).toBe(true);
  expect(messages.at(-1)).toContain('an older version has made turns in it since the migration');
  expect(await rejectionOf(compactFiles(place))).toMatchObject({ code: 'E_STORE_FORMAT' });
  expect(existsSync(join(instances, file))).toBe(true);
});
