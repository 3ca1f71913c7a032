/** The packages of this repository as npm packs them, into a folder outside of it. */
import { join } from 'node:path';
import { repository } from '../read-repository.ts';

export interface PackedPackage {
  readonly name: string;
  readonly version: string;
  /** The path of the tarball. */
  readonly tarball: string;
  /** Of the package, in the repository. */
  readonly folder: string;
  readonly files: readonly PackedFile[];
}

export interface PackedFile {
  /** From the folder of the package. */
  readonly path: string;
  readonly mode: number;
}

/** All that are published. What they ship has been built: `npm ci` does that, and so does `npm pack` without a test. */
export async function packPackages(destination: string): Promise<PackedPackage[]> {
  const { workspaces }: { workspaces: string[] } = await Bun.file(join(repository, 'package.json')).json();
  const published: string[] = [];
  for (const workspace of workspaces) {
    const { private: isPrivate = false } = await Bun.file(join(repository, workspace, 'package.json')).json();
    if (!isPrivate) published.push(workspace);
  }
  const chosen = published.flatMap((workspace) => ['--workspace', workspace]);
  const command = ['npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', destination, ...chosen];
  const child = Bun.spawn(command, { cwd: repository, stdout: 'pipe', stderr: 'pipe' });
  const [said, complaint] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (child.exitCode !== 0) throw new Error(complaint);
  const packed: { name: string; version: string; filename: string; files: PackedFile[] }[] = JSON.parse(said);
  return packed.map(({ name, version, filename, files }) => ({
    name,
    version,
    tarball: join(destination, filename),
    folder: published.find((workspace) => name.endsWith(`/${workspace.split('/').at(-1)}`)) ?? '',
    files: files.map(({ path, mode }) => ({ path, mode })),
  }));
}
