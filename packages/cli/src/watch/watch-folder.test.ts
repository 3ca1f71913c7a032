import { describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchFolder } from './watch-folder.ts';
import { until } from '../../../../test/until.ts';

/** A watched folder in a place of its own, so that the tests can wait at the same time. */
class WatchedFolder {
  readonly folder = mkdtempSync(join(tmpdir(), 'gdn-watch-'));
  times = 0;
  readonly end: () => void;

  constructor() {
    mkdirSync(join(this.folder, 'prompts'));
    mkdirSync(join(this.folder, 'node_modules/some'), { recursive: true });
    mkdirSync(join(this.folder, '.git'));
    mkdirSync(join(this.folder, 'state'));
    const onChange = () => void (this.times += 1);
    const onError = (error: unknown) => expect(error).toBeUndefined();
    this.end = watchFolder(this.folder, onChange, onError, join(this.folder, 'state'));
  }

  write(path: string): void {
    writeFileSync(join(this.folder, path), crypto.randomUUID());
  }

  async toldTimes(times: number): Promise<number> {
    await until(() => this.times >= times);
    // Waits long enough for a second report to arrive.
    await Bun.sleep(400);
    return this.times;
  }

  [Symbol.dispose](): void {
    this.end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

describe.concurrent('a watched folder', () => {
  test('reports a file in it or below it, once for changes close together', async () => {
    using watched = new WatchedFolder();
    watched.write('goondan.yaml');
    watched.write('prompts/a.md');
    watched.write('goondan.yaml');
    expect(await watched.toldTimes(1)).toBe(1);
    watched.write('prompts/a.md');
    expect(await watched.toldTimes(2)).toBe(2);
  });

  test('reports a file that replaces another, as editors do', async () => {
    using watched = new WatchedFolder();
    watched.write('goondan.yaml.swp');
    await watched.toldTimes(1);
    renameSync(join(watched.folder, 'goondan.yaml.swp'), join(watched.folder, 'goondan.yaml'));
    expect(await watched.toldTimes(2)).toBe(2);
  });

  test('reports files in a new folder', async () => {
    using watched = new WatchedFolder();
    mkdirSync(join(watched.folder, 'tools/deep'), { recursive: true });
    await watched.toldTimes(1);
    watched.write('tools/deep/new.ts');
    expect(await watched.toldTimes(2)).toBe(2);
  });

  test('reports files in a folder that replaced another, as after `git switch`, and a deleted folder', async () => {
    using watched = new WatchedFolder();
    rmSync(join(watched.folder, 'prompts'), { recursive: true });
    mkdirSync(join(watched.folder, 'prompts/deep'), { recursive: true });
    await watched.toldTimes(1);
    watched.write('prompts/deep/a.md');
    expect(await watched.toldTimes(2)).toBe(2);
    renameSync(join(watched.folder, 'prompts'), join(watched.folder, 'old'));
    mkdirSync(join(watched.folder, 'prompts'));
    await watched.toldTimes(3);
    watched.write('prompts/a.md');
    expect(await watched.toldTimes(4)).toBe(4);
    rmSync(join(watched.folder, 'prompts'), { recursive: true });
    expect(await watched.toldTimes(5)).toBe(5);
  });

  test('does not report packages, hidden folders and the excepted folder', async () => {
    using watched = new WatchedFolder();
    watched.write('node_modules/some/index.js');
    watched.write('.git/HEAD');
    watched.write('state/journal.jsonl');
    await Bun.sleep(400);
    expect(watched.times).toBe(0);
  });

  test('reports nothing after its end, even from an open burst', async () => {
    using watched = new WatchedFolder();
    watched.write('goondan.yaml');
    await Bun.sleep(20);
    watched.end();
    watched.write('goondan.yaml');
    await Bun.sleep(400);
    expect(watched.times).toBe(0);
  });

  test('cannot be watched when it does not exist', () => {
    using watched = new WatchedFolder();
    expect(() =>
      watchFolder(
        join(watched.folder, 'none'),
        () => undefined,
        () => undefined,
      ),
    ).toThrow(expect.objectContaining({ code: 'E_WATCH' }));
  });
});
