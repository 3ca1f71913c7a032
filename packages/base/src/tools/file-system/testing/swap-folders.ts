/**
 * A program for tests: swaps a folder with a link to the outside as fast as it can, and does the same with a file,
 * until it is killed. Usage: `swap-folders.ts <root> <outside>`.
 */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [root = '', outside = ''] = process.argv.slice(2);
mkdirSync(join(root, 'folder/deep'), { recursive: true });
writeFileSync(join(root, 'folder/deep/secret.txt'), 'inside\n');
symlinkSync(outside, join(root, 'link'));
writeFileSync(join(root, 'file'), 'inside\n');
symlinkSync(join(outside, 'secret.txt'), join(root, 'file-link'));
process.stdout.write('ready\n');

for (;;) {
  swap('folder', 'link');
  swap('file', 'file-link');
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

function move(from: string, to: string): void {
  for (;;) {
    try {
      return renameSync(from, to);
    } catch {
      rmSync(to, { recursive: true, force: true });
    }
  }
}
