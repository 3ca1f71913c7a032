import { afterEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReloadResult } from '@goondan/runtime/control';
import { watchBundle } from './watch-bundle.ts';
import { until } from '../../../../test/until.ts';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).toReversed()) cleanup();
});

/** Watches a bundle, writes its file, and collects the reports. `reload` is the outcome of each reload. */
function watch(reload: () => Promise<ReloadResult>) {
  const folder = mkdtempSync(join(tmpdir(), 'gdn-watch-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  const heard: string[] = [];
  const end = watchBundle({
    folder,
    stateRoot: join(folder, 'state'),
    reload,
    onReloaded: ({ changed }) => void heard.push(`changed ${changed.join()}`),
    onRefused: (error) => void heard.push(`refused: ${String(error)}`),
    onTakenBack: () => void heard.push('taken back'),
  });
  cleanups.push(end);
  return { heard, write: () => writeFileSync(join(folder, 'goondan.yaml'), crypto.randomUUID()) };
}

const same = { kept: ['Agent/a'], changed: [], added: [], removed: [], agents: [] };
test('undoing a refused change is reported, once; a file without a change is not', async () => {
  const results = [same, 'wrong', same, same, { ...same, changed: ['Agent/b'] }];
  let reloads = 0;
  const { heard, write } = watch(async () => {
    const result = results[reloads];
    reloads += 1;
    if (typeof result !== 'object') throw new Error(result);
    return result;
  });
  for (let times = 1; times <= results.length; times += 1) {
    write();
    await until(() => reloads === times);
  }
  await until(() => heard.length >= 3);
  expect(heard).toEqual(['refused: Error: wrong', 'taken back', 'changed Agent/b']);
});
