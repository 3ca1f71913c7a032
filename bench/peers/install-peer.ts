/**
 * Installs a peer into a folder of its own, from its lockfile. The folder is kept, and used again while the lockfile is the
 * same.
 *
 * On Linux, each peer runs on the Node version of its lockfile; elsewhere it runs on the Node of the path. npm itself always
 * runs on the Node of the path, because its settings belong to that installation. Therefore, native modules are built in a
 * second step, for the Node of the peer.
 *
 * LangGraph is on Node 22, because statements of better-sqlite3 12.11 abort the process on Node 24.21.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface InstalledPeer {
  readonly node: string;
  readonly program: string;
}

/** The folder of all installed peers. */
export const peersFolder: string = join(tmpdir(), 'goondan-peers');

/** Returns the packages of a peer with their versions, without its Node. */
export function versionsOf(name: string): string {
  return Object.entries(dependenciesOf(name))
    .map((entry) => entry.join(' '))
    .join(', ');
}

export function versionOf(name: string, packageName: string): string {
  return dependenciesOf(name)[packageName] ?? '';
}

function dependenciesOf(name: string): Readonly<Record<string, string>> {
  const text = readFileSync(join(import.meta.dir, name, 'package.json'), 'utf8');
  const manifest: { dependencies: Readonly<Record<string, string>> } = JSON.parse(text);
  return manifest.dependencies;
}

/** `limitMs`: the time for each command of npm. **Errors** — the last lines of npm, when npm fails. */
export async function installPeer(name: string, limitMs: number): Promise<InstalledPeer> {
  const lockfile = readFileSync(join(import.meta.dir, name, 'package-lock.json'), 'utf8');
  const folder = join(peersFolder, `${name}-${Bun.hash(lockfile).toString(36)}`);
  if (!existsSync(folder)) await install(name, folder, limitMs);
  for (const file of readdirSync(import.meta.dir).filter((path) => path.endsWith('.mjs'))) {
    copyFileSync(join(import.meta.dir, file), join(folder, file));
  }
  return { node: nodeIn(folder) ?? 'node', program: join(folder, `${name}.mjs`) };
}

async function install(name: string, folder: string, limitMs: number): Promise<void> {
  const draft = `${folder}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) {
    copyFileSync(join(import.meta.dir, name, file), join(draft, file));
  }
  await npm(draft, ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], limitMs);
  if (existsSync(join(draft, 'node_modules', 'better-sqlite3'))) await buildFor(nodeIn(draft), draft, limitMs);
  renameSync(draft, folder);
}

/** Builds native modules. The Node package has the headers that such a build needs. */
async function buildFor(node: string | undefined, folder: string, limitMs: number): Promise<void> {
  const own =
    node === undefined
      ? {}
      : { PATH: `${join(node, '..')}:${process.env.PATH}`, npm_config_nodedir: join(node, '../..') };
  await npm(folder, ['rebuild', 'better-sqlite3'], limitMs, own);
}

function nodeIn(folder: string): string | undefined {
  const node = join(folder, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
  return existsSync(node) ? node : undefined;
}

async function npm(
  folder: string,
  args: readonly string[],
  limitMs: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const child = Bun.spawn(['npm', ...args], {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: limitMs,
  });
  const [stderr] = await Promise.all([child.stderr.text(), child.exited]);
  if (child.exitCode === 0) return;
  const lines = stderr.split('\n').filter((line) => line.startsWith('npm error') || line.startsWith('gyp ERR'));
  throw new Error(lines.slice(0, 3).join(' ') || `npm ${args[0]} ended with ${child.signalCode ?? child.exitCode}`);
}
