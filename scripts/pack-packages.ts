/**
 * `npm run pack`: writes the tarballs of all published packages and prints the commands that install them. Tests and
 * releases call `packPackages`, too. Nothing else creates tarballs.
 *
 * 1. In this repository everything runs from `src`, as TypeScript. In a tarball it runs from `lib`, as JavaScript with
 *    declarations; `src` is included for declaration maps and for people.
 * 2. `lib/a/b.js` is compiled from `src/a/b.ts`, so a module finds the files of its package by the same relative path
 *    in both folders.
 * 3. Each `package.json` decides what is packed: `files` lists the shipped files, and `exports` the modules that can be
 *    imported.
 * 4. In a tarball, our other packages are peers. pnpm and Bun look for a dependency of a tarball in the registry only, but
 *    for a peer among the tarballs of the project, too.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { compilePackages } from './compile-packages.ts';
import { compiledName } from './compiled-name.ts';
import { inBundledPackages } from './provider-packages.ts';

const repository = resolve(import.meta.dir, '..');

export interface StagedPackage {
  readonly name: string;
  readonly version: string;
  /** Path of a folder with the contents of the tarball. */
  readonly folder: string;
  readonly files: readonly PackedFile[];
}

export interface PackedPackage extends Omit<StagedPackage, 'folder'> {
  /** Path of the tarball. */
  readonly tarball: string;
}

export interface PackedFile {
  /** The path, relative to the package's folder. */
  readonly path: string;
  readonly mode: number;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly workspaces?: readonly string[];
  readonly exports?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
  readonly scripts?: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: unknown;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** The commands that install the tarballs, in a project with a copy of the folder `packed`. */
export const installCommands = ['npm install', 'pnpm add', 'bun add'].map((command) => `${command} ./packed/*.tgz`);

/**
 * Packs all published packages into a folder. The runners and Studio's page must have been built, which `npm ci` does.
 */
export async function packPackages(destination: string): Promise<PackedPackage[]> {
  const staging = mkdtempSync(join(tmpdir(), 'goondan-pack-'));
  try {
    const folders = (await stagePackages(staging)).map(({ folder }) => folder);
    return (await npmPack(folders, '--pack-destination', destination)).map(({ filename, ...packed }) => ({
      ...packed,
      tarball: join(destination, filename),
    }));
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/**
 * Puts the contents of each tarball into a folder below `staging`. Bun decides which files of the repository ship, as
 * npm does: `npm pack --dry-run` takes a hundred times longer, because it compresses the files.
 */
export async function stagePackages(staging: string): Promise<StagedPackage[]> {
  const staged = listPublished().map((source) => {
    const folder = join(staging, basename(source));
    copyFiles(source, folder, listShipped(source));
    const { name, version } = readManifest(source);
    return { name, version, folder };
  });
  await compilePackages(
    repository,
    staged.map(({ folder }) => folder),
  );
  for (const { folder } of staged) turnToCompiled(folder);
  return staged.map((each) => ({ ...each, files: listFiles(each.folder) }));
}

/** Lists the files of a package that `files` of its `package.json` names, and those that always ship. */
export function listShipped(folder: string): string[] {
  const command = [process.execPath, 'pm', 'pack', '--dry-run', '--ignore-scripts'];
  const { stdout, stderr, exitCode } = Bun.spawnSync(command, { cwd: folder, env: { ...process.env, NO_COLOR: '1' } });
  if (exitCode !== 0) throw new Error(stderr.toString());
  return [...stdout.toString().matchAll(/^packed \S+ (.+)$/gm)].map(([, path = '']) => path);
}

/** Copies files with their modes. Reading and writing takes a quarter of the time of `cpSync`. */
function copyFiles(source: string, target: string, paths: readonly string[]): void {
  for (const folder of new Set(paths.map((path) => dirname(join(target, path)))))
    mkdirSync(folder, { recursive: true });
  for (const path of paths) {
    const { mode } = statSync(join(source, path));
    writeFileSync(join(target, path), readFileSync(join(source, path)), { mode });
  }
}

function listFiles(folder: string): PackedFile[] {
  const paths = [...new Bun.Glob('**/*').scanSync({ cwd: folder, dot: true })];
  return paths.map((path) => ({ path, mode: statSync(join(folder, path)).mode & 0o777 }));
}

export function listPublished(): string[] {
  const { workspaces = [] } = readManifest(repository);
  return workspaces.map((workspace) => join(repository, workspace)).filter((folder) => !readManifest(folder).private);
}

/** Calls `npm pack`. Returns one entry per folder, in order. */
export async function npmPack(folders: readonly string[], ...options: readonly string[]) {
  const command = ['npm', 'pack', '--json', '--ignore-scripts', ...options, ...folders];
  const child = Bun.spawn(command, { cwd: repository, stdout: 'pipe', stderr: 'pipe' });
  const [said, complaint] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (child.exitCode !== 0) throw new Error(complaint);
  const packed: { name: string; version: string; filename: string; files: PackedFile[] }[] = JSON.parse(said);
  return packed.map(({ name, version, filename, files }) => ({ name, version, filename, files }));
}

/**
 * Changes `src` to `lib` in the manifest, the resources and the commands of a staged package, the packages of model
 * providers to their bundles, and dependencies on our packages to peers.
 */
function turnToCompiled(folder: string): void {
  const { scripts: _scripts, devDependencies: _bundled, ...manifest } = readManifest(folder);
  const exports = Object.entries(manifest.exports ?? {}).map(([door, module]) => [door, doorOf(module)]);
  // The staging folder contains only shipped files, so patterns that exclude files are not needed.
  const files = ['lib', ...(manifest.files ?? []).filter((pattern) => !pattern.startsWith('!'))];
  const turned = { ...withPeers(manifest), exports: Object.fromEntries(exports), files };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(turned, undefined, 2)}\n`);
  for (const name of ['*.yaml', 'bin/*.cjs'].flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(folder)])) {
    writeFileSync(join(folder, name), compiledName(readFileSync(join(folder, name), 'utf8')));
  }
  for (const name of new Bun.Glob('lib/agent/model/providers/*.js').scanSync(folder)) {
    const dist = '../'.repeat(dirname(name).split('/').length);
    const text = readFileSync(join(folder, name), 'utf8');
    writeFileSync(
      join(folder, name),
      inBundledPackages(text, (file) => `'${dist}dist/${file}'`),
    );
  }
}

function withPeers({ dependencies = {}, peerDependencies, ...manifest }: Manifest): Manifest {
  const { ours = [], others = [] } = Object.groupBy(Object.entries(dependencies), ([name]) =>
    name.startsWith('@goondan/') ? 'ours' : 'others',
  );
  return {
    ...manifest,
    dependencies: Object.fromEntries(others),
    peerDependencies: { ...Object.fromEntries(ours), ...peerDependencies },
  };
}

function doorOf(module: string): string | { types: string; default: string } {
  if (!module.endsWith('.ts')) return module;
  const compiled = compiledName(module);
  return { types: compiled.replace(/\.js$/, '.d.ts'), default: compiled };
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

if (import.meta.main) {
  const destination = join(repository, 'packed');
  rmSync(destination, { recursive: true, force: true });
  mkdirSync(destination);
  await packPackages(destination);
  console.log(`
Copy the folder packed into your project, in place of an older copy, and keep it there. Then run one of these commands in the project:

  ${installCommands.join('\n  ')}
`);
}
