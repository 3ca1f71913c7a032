/**
 * A program for tests: swaps a folder with a link to the outside as fast as it can, and does the same with a file,
 * until it is killed. Counts its rounds in the first four bytes of a file, which other programs map into their memory.
 * Usage: `swap-folders.ts <root> <outside> <file>`.
 */
import { lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [root = '', outside = '', file = ''] = process.argv.slice(2);
const fileLink = join(root, 'file-link');
mkdirSync(join(root, 'folder/deep'), { recursive: true });
writeFileSync(join(root, 'folder/deep/secret.txt'), 'inside\n');
symlinkSync(outside, join(root, 'link'));
writeFileSync(join(root, 'file'), 'inside\n');
symlinkSync(join(outside, 'secret.txt'), fileLink);
const rounds = new DataView(Bun.mmap(file).buffer);
process.stdout.write('ready\n');

for (;;) {
  swap('folder', 'link');
  swap('file', 'file-link');
  restoreLink();
  rounds.setUint32(0, rounds.getUint32(0) + 1);
}

/**
 * Swaps two paths and swaps them back. While a path does not exist, the tool under test may create a file there; that
 * file is removed.
 */
function swap(one: string, other: string): void {
  const [a, b, aside] = [join(root, one), join(root, other), join(root, `${one}.aside`)];
  move(a, aside);
  move(b, a);
  for (let i = 0; i < 200; i += 1);
  move(a, b);
  move(aside, a);
}

/** Makes the link again that a write has replaced with a file. Without it, later writes would meet no link. */
function restoreLink(): void {
  if (lstatSync(fileLink).isSymbolicLink()) return;
  rmSync(fileLink);
  symlinkSync(join(outside, 'secret.txt'), fileLink);
}

function move(from: string, to: string): void {
  for (;;) {
    try {
      return renameSync(from, to);
    } catch {
      rmSync(to, { recursive: true, force: true });
    }
  }
}
