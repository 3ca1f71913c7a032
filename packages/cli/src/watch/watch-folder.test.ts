import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchFolder } from './watch-folder.ts';

const told = { times: 0 };
let folder = '';
let end: () => void = () => undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gdn-watch-'));
  mkdirSync(join(folder, 'prompts'));
  mkdirSync(join(folder, 'node_modules/some'), { recursive: true });
  mkdirSync(join(folder, '.git'));
  mkdirSync(join(folder, 'state'));
  told.times = 0;
  const onChange = () => void (told.times += 1);
  end = watchFolder(folder, onChange, (error) => expect(error).toBeUndefined(), join(folder, 'state'));
});
afterEach(() => {
  end();
  rmSync(folder, { recursive: true, force: true });
});

const write = (path: string) => writeFileSync(join(folder, path), crypto.randomUUID());
const toldTimes = async (times: number) => {
  while (told.times < times) await Bun.sleep(5);
  // Waits long enough for a second report to arrive.
  await Bun.sleep(400);
  return told.times;
};

describe('a watched folder', () => {
  test('reports a file in it or below it, once for changes close together', async () => {
    write('goondan.yaml');
    write('prompts/a.md');
    write('goondan.yaml');
    expect(await toldTimes(1)).toBe(1);
    write('prompts/a.md');
    expect(await toldTimes(2)).toBe(2);
  });

  test('reports a file that replaces another, as editors do', async () => {
    write('goondan.yaml.swp');
    await toldTimes(1);
    renameSync(join(folder, 'goondan.yaml.swp'), join(folder, 'goondan.yaml'));
    expect(await toldTimes(2)).toBe(2);
  });

  test('reports files in a new folder', async () => {
    mkdirSync(join(folder, 'tools/deep'), { recursive: true });
    await toldTimes(1);
    write('tools/deep/new.ts');
    expect(await toldTimes(2)).toBe(2);
  });

  test('reports files in a folder that replaced another, as after `git switch`', async () => {
    rmSync(join(folder, 'prompts'), { recursive: true });
    mkdirSync(join(folder, 'prompts/deep'), { recursive: true });
    await toldTimes(1);
    write('prompts/deep/a.md');
    expect(await toldTimes(2)).toBe(2);
    renameSync(join(folder, 'prompts'), join(folder, 'old'));
    mkdirSync(join(folder, 'prompts'));
    await toldTimes(3);
    write('prompts/a.md');
    expect(await toldTimes(4)).toBe(4);
  });

  test('does not report packages, hidden folders and the excepted folder', async () => {
    write('node_modules/some/index.js');
    write('.git/HEAD');
    write('state/journal.jsonl');
    await Bun.sleep(400);
    expect(told.times).toBe(0);
  });

  test('reports nothing after its end, even from an open burst', async () => {
    write('goondan.yaml');
    await Bun.sleep(20);
    end();
    write('goondan.yaml');
    await Bun.sleep(400);
    expect(told.times).toBe(0);
  });

  test('cannot be watched when it does not exist', () => {
    expect(() =>
      watchFolder(
        join(folder, 'none'),
        () => undefined,
        () => undefined,
      ),
    ).toThrow(expect.objectContaining({ code: 'E_WATCH' }));
  });
});
