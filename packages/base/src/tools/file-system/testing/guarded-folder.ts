/** For tests: a working folder, surrounded by files that a path could try to reach. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const CANARY = 'canary-that-nobody-may-read';

export interface GuardedFolder extends Disposable {
  /** The folder that contains both the root and the files outside of it. */
  readonly base: string;
  /** The folder that no path may leave. */
  readonly root: string;
  readonly outside: string;
  /** Returns the paths and contents of all files outside of the root. */
  snapshot(): Record<string, string>;
}

export function guardedFolder(): GuardedFolder {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'goondan-files-')));
  const root = join(base, 'root');
  const outside = join(base, 'outside');
  for (const [path, text] of Object.entries({
    'root/inside.txt': 'inside\n',
    'root/a/b/c.txt': 'deep\n',
    'root/.hidden': 'hidden\n',
    'outside/secret.txt': `${CANARY}\n`,
    'outside/dir/deep.txt': `${CANARY}\n`,
    'root-evil/secret.txt': `${CANARY}\n`,
    'roo/secret.txt': `${CANARY}\n`,
  })) {
    mkdirSync(join(base, path, '..'), { recursive: true });
    writeFileSync(join(base, path), text);
  }
  const links = {
    'link-in': 'a',
    'abs-in': join(root, 'a/b'),
    'a/back': '../inside.txt',
    'a/b/abs-back': join(root, 'inside.txt'),
    'twice-in': 'link-in/b',
    'link-out': '../outside',
    'abs-out': outside,
    'file-out': '../outside/secret.txt',
    'a/up-out': '../../outside',
    'a/b/abs-file': join(outside, 'secret.txt'),
    up: '..',
    'dot-out': './a/../../outside',
    'chain-1': 'chain-2',
    'chain-2': 'a/up-out',
    loop: 'loop',
    'loop-a': 'loop-b',
    'loop-b': 'loop-a',
    slash: '/',
    etc: '/etc',
    'proc-root': '/proc/self/root',
    'proc-cwd': '/proc/self/cwd',
    'proc-fd': '/proc/self/fd',
    'twin-out': join(base, 'root-evil'),
    'dangling-out': '../outside/new.txt',
    'dangling-dir': '../outside/new-folder',
    zero: '/dev/zero',
    'through-in': 'link-in/../../outside',
  };
  for (const [path, target] of Object.entries(links)) symlinkSync(target, join(root, path));
  const snapshot = () =>
    Object.fromEntries(
      ['outside', 'root-evil', 'roo'].flatMap((name) => contentsOf(join(base, name))).concat(namesIn(base)),
    );
  return { base, root, outside, snapshot, [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }) };
}

function contentsOf(folder: string): [string, string][] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => join(folder, name))
    .map((path) => [path, statSync(path).isFile() ? readFileSync(path, 'utf8') : 'folder']);
}

function namesIn(folder: string): [string, string][] {
  return readdirSync(folder).map((name) => [join(folder, name), 'there']);
}
