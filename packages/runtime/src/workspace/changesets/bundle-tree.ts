/**
 * The files of a bundle as changesets see them: paths are relative, links are never followed, and only regular files
 * count.
 */
import { dirname, join, relative, sep } from 'node:path';
import { sha256 } from '../../json/sha256.ts';
import type { BundleFs } from '../../ports/bundle-fs.ts';
import { findPathProblem } from './find-path-problem.ts';
import { changesetLimits } from './changeset-store.ts';

/** The thing at a path. `blocked`: neither a regular file nor free for a new one; `why` ends a sentence about the path. */
export type Found =
  | { readonly kind: 'file'; readonly size: number; readonly mode: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'blocked'; readonly why: string };

/** A file as it is now. `digest` is `null` if there is no file, and absent for a link, a folder or a file over the limit. */
export interface PresentFile {
  readonly digest?: string | null;
  readonly bytes?: Uint8Array;
  readonly mode?: number;
}

export class BundleTree {
  /** The state root as a path in the bundle, if it is inside. */
  readonly #stateRoot: string | undefined;

  constructor(
    private readonly fs: BundleFs,
    private readonly folder: string,
    stateRoot: string,
  ) {
    const inside = relative(folder, stateRoot).split(sep).join('/');
    this.#stateRoot = inside === '..' || inside.startsWith('../') ? undefined : inside;
  }

  /** Returns the absolute path. */
  at(path: string): string {
    return join(this.folder, path);
  }

  async exists(): Promise<boolean> {
    return (await this.fs.look(this.folder))?.kind === 'folder';
  }

  /** Returns why no changeset may touch the path, as `findPathProblem` does; also knows the state root. */
  findProblem(path: string): string | undefined {
    return findPathProblem(path) ?? (this.#isState(path) ? 'belongs to the state of Goondan' : undefined);
  }

  /** Looks at a path, and at each folder on the way to it. */
  async find(path: string): Promise<Found> {
    const names = path.split('/');
    for (let depth = 1; depth < names.length; depth += 1) {
      const folder = names.slice(0, depth).join('/');
      const entry = await this.fs.look(this.at(folder));
      if (entry === undefined) return { kind: 'missing' };
      if (entry.kind === 'link') return { kind: 'blocked', why: `leads through the link ${folder}` };
      if (entry.kind !== 'folder') return { kind: 'blocked', why: `leads through ${folder}, which is not a folder` };
    }
    const entry = await this.fs.look(this.at(path));
    if (entry === undefined) return { kind: 'missing' };
    if (entry.kind === 'file') return { kind: 'file', size: entry.size, mode: entry.mode };
    const kinds = { folder: 'is a folder', link: 'is a link', other: 'is not a regular file' };
    return { kind: 'blocked', why: kinds[entry.kind] };
  }

  /**
   * Returns true if every existing part of the path has this spelling in its folder. On a file system that ignores case,
   * `find` finds a file by another spelling too.
   */
  async isSpelledSo(path: string): Promise<boolean> {
    const names = path.split('/');
    for (const [depth, name] of names.entries()) {
      const parts = names.slice(0, depth);
      if ((await this.fs.look(this.at([...parts, name].join('/')))) === undefined) return true;
      if (!(await this.fs.list(this.at(parts.join('/'))))?.includes(name)) return false;
    }
    return true;
  }

  /** Reads a file of at most the permitted size. */
  async present(path: string): Promise<PresentFile> {
    const found = await this.find(path);
    if (found.kind === 'missing') return { digest: null };
    if (found.kind === 'blocked' || found.size > changesetLimits.fileBytes) return {};
    const bytes = await this.fs.read(this.at(path), 0, changesetLimits.fileBytes + 1);
    if (bytes === undefined) return { digest: null };
    if (bytes.length > changesetLimits.fileBytes) return {};
    return { digest: sha256(bytes), bytes, mode: found.mode };
  }

  /** Returns the folders on the way to a path that do not exist, parents first. */
  async missingFolders(path: string): Promise<readonly string[]> {
    const missing: string[] = [];
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
      if ((await this.fs.look(this.at(folder))) !== undefined) break;
      missing.unshift(folder);
    }
    return missing;
  }

  /** Returns the paths of the files that a changeset may read, sorted. Folders near the top come first if there are too many. */
  async listFiles(): Promise<readonly string[]> {
    const files: string[] = [];
    const folders = [''];
    let looked = 0;
    for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
      // A folder that cannot be read has no files for a changeset.
      const names = (await this.fs.list(this.at(folder)).catch(() => undefined)) ?? [];
      for (const name of names.toSorted()) {
        const path = folder === '' ? name : `${folder}/${name}`;
        if (this.findProblem(path) !== undefined) continue;
        looked += 1;
        if (looked > changesetLimits.listedEntries || files.length === changesetLimits.listedFiles)
          return files.toSorted();
        const entry = await this.fs.look(this.at(path));
        if (entry?.kind === 'folder') folders.push(path);
        if (entry?.kind === 'file' && entry.size <= changesetLimits.fileBytes) files.push(path);
      }
    }
    return files.toSorted();
  }

  #isState(path: string): boolean {
    const root = this.#stateRoot;
    return root !== undefined && (root === '' || path === root || path.startsWith(`${root}/`));
  }
}
