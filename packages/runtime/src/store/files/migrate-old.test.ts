import { afterAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../ports/clock.ts';
import { systemFs } from '../../ports/fs.ts';
import { systemProcesses } from '../../ports/processes.ts';
import { keptFolder } from '../../workspace/format-1/format-file.ts';
import { writeOldRoot } from '../../../../../test/format-1/write-old-root.ts';
import { migrateOld } from './migrate-old.ts';

const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-old-'));
afterAll(() => rmSync(stateRoot, { recursive: true, force: true }));

test('an old workspace is migrated once, and its old files are removed a week later, unless they are in use', async () => {
  writeOldRoot(stateRoot);
  const messages: string[] = [];
  const start = Date.now();
  const kept = join(keptFolder(stateRoot), 'workspaces/shop');
  const owner = { ...systemProcesses.self(), holder: 'older' };
  for (const [day, isThere, user] of [
    [0, true, null],
    [6, true, null],
    [8, true, owner],
    [9, false, null],
  ] as const) {
    if (day > 0) writeFileSync(join(kept, 'orchestrator.json'), JSON.stringify({ epoch: 1, owner: user }));
    const clock = { ...systemClock, now: () => new Date(start + day * 24 * 3_600_000) };
    const warn = ({ message }: { readonly message: string }) => void messages.push(message);
    await migrateOld({ fs: systemFs, clock, processes: systemProcesses, warn }, { stateRoot, workspaceId: 'shop' });
    expect(existsSync(kept)).toBe(isThere);
  }
  expect(messages).toEqual(['migrated 14 conversations to format 2; the old files are kept for 7 days']);
});
