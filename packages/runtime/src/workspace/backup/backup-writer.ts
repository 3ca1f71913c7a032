/**
 * Writes the files of a backup, or of a restored workspace, below one folder. Everything is durable when `sync` resolves.
 * Files are synced several at a time, because the disk then needs less time for each.
 */
import type { BundleFs } from '../../ports/bundle-fs.ts';
import type { OpenFile } from '../../ports/fs.ts';
import { Sha256, sha256 } from '../../json/sha256.ts';
import { together } from '../lines/together.ts';
import { reasonOf } from './backup-errors.ts';
import type { BackedUpFile } from './manifest.ts';

/** The progress of a backup or a restore. */
export interface BackupProgress {
  readonly files: number;
  readonly bytes: number;
}

const PIECE = 1024 * 1024;
const EXECUTABLE = 0o700;
/** Files or folders that are synced at the same time. */
const SYNCS = 32;

/** A file that is copied could not be read; `cause` is the error of the disk. */
export class UnreadableFile extends Error {}

/** Runs `copy`. If the file is unreadable, it is passed to `report`. */
export async function unlessUnreadable<Value>(
  copy: () => Promise<Value>,
  report: (problem: string) => void = () => undefined,
): Promise<Value | undefined> {
  try {
    return await copy();
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    report(error.message);
    return undefined;
  }
}

export class BackupWriter {
  readonly #files = new Map<string, BackedUpFile>();
  readonly #folders = new Set<string>();
  /** Files that are written, but not synced yet. */
  #open: OpenFile[] = [];
  #copied = { files: 0, bytes: 0 };

  constructor(
    private readonly fs: BundleFs,
    readonly root: string,
    private readonly signal: AbortSignal | undefined,
    private readonly onProgress: (progress: BackupProgress) => void = () => undefined,
  ) {}

  get files(): readonly BackedUpFile[] {
    return [...this.#files.values()];
  }

  get folders(): readonly string[] {
    return [...this.#folders];
  }

  /** Everything that was written, including files that were removed again. */
  get progress(): BackupProgress {
    return this.#copied;
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  /** Returns the SHA-256 of a file that was written; `undefined` for any other. */
  digestOf(path: string): string | undefined {
    return this.#files.get(path)?.sha256;
  }

  pathOf(path: string): string {
    return `${this.root}/${path}`;
  }

  /** Makes a folder and its parents below the root. */
  async makeFolder(path: string): Promise<void> {
    if (path === '' || this.#folders.has(path)) return;
    await this.makeFolder(parentOf(path));
    await this.fs.makeFolder(this.pathOf(path));
    this.#folders.add(path);
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    this.signal?.throwIfAborted();
    await this.#create(path, (file) => file.append(bytes));
    this.#note({ path, bytes: bytes.length, sha256: sha256(bytes) });
  }

  /**
   * Copies a file piece by piece, up to `size` bytes. Returns `undefined` when the file does not exist. **Errors** —
   * `UnreadableFile`, and then nothing is left of the copy; those of writing.
   */
  async copy(from: string, path: string, size: number, mode: number): Promise<BackedUpFile | undefined> {
    const hash = new Sha256();
    let bytes = 0;
    const first = await this.#read(from, 0, size);
    if (!first) return undefined;
    const created = this.#create(path, async (file) => {
      for (let piece: Uint8Array | undefined = first; piece && piece.length > 0;) {
        this.signal?.throwIfAborted();
        await file.append(piece);
        hash.append(piece);
        bytes += piece.length;
        piece = bytes < size ? await this.#read(from, bytes, size) : undefined;
      }
    });
    await created.catch(async (error: unknown) => {
      if (error instanceof UnreadableFile) await this.fs.remove(this.pathOf(path));
      throw error;
    });
    const isExecutable = (mode & 0o100) !== 0;
    if (isExecutable) await this.fs.setMode(this.pathOf(path), EXECUTABLE);
    const copied = { path, bytes, sha256: hash.digest(), ...(isExecutable && { isExecutable }) };
    this.#note(copied);
    return copied;
  }

  async remove(path: string): Promise<void> {
    if (this.#files.delete(path)) await this.fs.remove(this.pathOf(path));
  }

  /** Removes a folder with its contents. */
  async removeFolder(path: string): Promise<void> {
    const isInside = (each: string) => each === path || each.startsWith(`${path}/`);
    for (const each of this.#files.keys()) if (isInside(each)) this.#files.delete(each);
    for (const each of this.#folders) if (isInside(each)) this.#folders.delete(each);
    await this.fs.removeFolder(this.pathOf(path));
  }

  /** Makes all files and folders durable, except the name of the root. **Errors** — the reason of `signal`. */
  async sync(): Promise<void> {
    await this.#syncFiles();
    this.signal?.throwIfAborted();
    const paths = [this.root, ...Array.from(this.#folders, (path) => this.pathOf(path))];
    for (let at = 0; at < paths.length; at += SYNCS) {
      await together(paths.slice(at, at + SYNCS).map((path) => this.fs.syncFolder(path)));
      this.signal?.throwIfAborted();
    }
  }

  /** Closes files that an error has left open. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#open.splice(0).map((file) => file.close()));
  }

  /** Reads the next piece of a file of `size` bytes. */
  async #read(from: string, at: number, size: number): Promise<Uint8Array | undefined> {
    try {
      return await this.fs.read(from, at, Math.min(PIECE, size - at));
    } catch (error) {
      throw new UnreadableFile(reasonOf(error), { cause: error });
    }
  }

  async #create(path: string, fill: (file: OpenFile) => Promise<void>): Promise<void> {
    await this.makeFolder(parentOf(path));
    // An earlier attempt may have left a file with this name.
    if (this.#files.has(path)) await this.remove(path);
    const file = await this.fs.openFile(this.pathOf(path));
    try {
      await fill(file);
    } catch (error) {
      await file.close();
      throw error;
    }
    this.#open.push(file);
    if (this.#open.length >= SYNCS) await this.#syncFiles();
  }

  async #syncFiles(): Promise<void> {
    await together(this.#open.splice(0).map(syncAndClose));
  }

  #note(file: BackedUpFile): void {
    this.#files.set(file.path, file);
    this.#copied = { files: this.#copied.files + 1, bytes: this.#copied.bytes + file.bytes };
    this.onProgress(this.#copied);
  }
}

async function syncAndClose(file: OpenFile): Promise<void> {
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Returns the folder of a relative path; empty at the top. */
export function parentOf(path: string): string {
  const at = path.lastIndexOf('/');
  return at === -1 ? '' : path.slice(0, at);
}
