import { expect, test } from 'bun:test';
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noteStart } from './node-starts.ts';

function inFolder(check: (folder: string, root: string) => void): void {
  const root = mkdtempSync(join(tmpdir(), 'node-starts-'));
  const folder = join(root, 'node');
  mkdirSync(folder);
  try {
    check(folder, root);
  } finally {
    rmSync(root, { recursive: true });
  }
}

test('S-02 a start knows the one before it in the same folder, also when the folder was moved', () => {
  inFolder((folder, root) => {
    const first = noteStart(folder);
    expect(first.ended).toEqual([]);
    first.joined();
    renameSync(folder, join(root, 'moved'));
    const second = noteStart(join(root, 'moved'));
    expect(second.ended).toEqual([first.start]);
    second.joined();
    expect(noteStart(join(root, 'moved')).ended).toEqual([second.start]);
  });
});

test('no other user may read the list, which proves that a start has ended', () => {
  inFolder((folder) => {
    noteStart(folder).joined();
    expect(statSync(join(folder, 'node-starts')).mode & 0o777).toBe(0o600);
  });
});

test('S-02 a start that did not join leaves the earlier ones in the list, up to a limit', () => {
  inFolder((folder) => {
    const starts = Array.from({ length: 20 }, () => noteStart(folder).start);
    expect(noteStart(folder).ended).toEqual(starts.slice(-15));
  });
});

test('S-02 a copy of the folder, and another machine or boot with the same folder, know no start', () => {
  inFolder((folder, root) => {
    noteStart(folder, () => 'boot 1').joined();
    cpSync(folder, join(root, 'copy'), { recursive: true });
    expect(noteStart(join(root, 'copy'), () => 'boot 1').ended).toEqual([]);
    expect(noteStart(folder, () => 'boot 2').ended).toEqual([]);
    expect(noteStart(folder, () => 'boot 2').ended).toHaveLength(1);
  });
});

test('a machine without an id of its boot knows no start, and a spoilt list is empty', () => {
  inFolder((folder) => {
    noteStart(folder).joined();
    writeFileSync(join(folder, 'node-starts'), 'x');
    expect(noteStart(folder).ended).toEqual([]);
    expect(noteStart(folder, () => undefined).ended).toEqual([]);
  });
});
