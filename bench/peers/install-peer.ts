/**
 * Installs a peer into a folder of its own, with the versions of `pins.json`. Packages that a peer depends on are those
 * of the day `before`. The folder is kept, and used again while the pins are the same.
 *
 * Each peer runs on its Node version of `pins.json`, which npm installs beside it where it has a package for the
 * platform; elsewhere it runs on the Node of the path. npm itself always runs on the Node of the path, because its
 * settings belong to that installation. Therefore, native modules are built in a second step, for the Node of the peer.
 *
 * LangGraph is on Node 22, because statements of better-sqlite3 12.11 abort the process on Node 24.21.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pins from './pins.json';

export type PeerName = keyof typeof pins.peers;

export interface InstalledPeer {
  readonly node: string;
  readonly program: string;
}

/** The folder of all installed peers. */
export const peersFolder: string = join(tmpdir(), `goondan-peers-${Bun.hash(JSON.stringify(pins)).toString(36)}`);

/** **Errors** — the last lines of npm, when npm fails. */
export function installPeer(name: PeerName): InstalledPeer {
  const folder = join(peersFolder, name);
  if (!existsSync(folder)) install(name, folder);
  for (const file of readdirSync(import.meta.dir).filter((path) => path.endsWith('.mjs'))) {
    copyFileSync(join(import.meta.dir, file), join(folder, file));
  }
  return { node: nodeIn(folder) ?? 'node', program: join(folder, `${name}.mjs`) };
}

function install(name: PeerName, folder: string): void {
  const draft = `${folder}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const { node, packages } = pins.peers[name];
  const optionalDependencies = { [nodePackage]: node };
  const manifest = { private: true, type: 'module', dependencies: packages, optionalDependencies };
  writeFileSync(join(draft, 'package.json'), JSON.stringify(manifest));
  npm(draft, [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-package-lock',
    `--before=${pins.before}`,
  ]);
  if ('better-sqlite3' in packages) buildFor(nodeIn(draft), draft);
  renameSync(draft, folder);
}

/** Builds native modules. The Node package has the headers that such a build needs. */
function buildFor(node: string | undefined, folder: string): void {
  const own =
    node === undefined
      ? {}
      : { PATH: `${join(node, '..')}:${process.env.PATH}`, npm_config_nodedir: join(node, '../..') };
  npm(folder, ['rebuild', 'better-sqlite3'], own);
}

const nodePackage = `node-${process.platform}-${process.arch}`;

function nodeIn(folder: string): string | undefined {
  const node = join(folder, 'node_modules', nodePackage, 'bin', 'node');
  return existsSync(node) ? node : undefined;
}

function npm(folder: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}): void {
  const env = { ...process.env, ...environment };
  const { status, stderr, error } = spawnSync('npm', args, { cwd: folder, env, encoding: 'utf8', timeout: 600_000 });
  if (error) throw error;
  if (status === 0) return;
  const lines = stderr.split('\n').filter((line) => line.startsWith('npm error') || line.startsWith('gyp ERR'));
  throw new Error(lines.slice(0, 3).join(' ') || `npm ${args[0]} ended with ${status}`);
}
