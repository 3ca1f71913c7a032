/** What SQLite leaves to us: syncs, and the room on the disk. */
import { closeSync, fdatasync, fdatasyncSync, fstatSync, fsyncSync, openSync, statfsSync, writeSync } from 'node:fs';

export interface SyncedLog {
  /** Syncs in this thread. **Errors** — those of the disk. */
  syncHere(): void;
  /** Syncs in another thread. Rejects with an error of the disk. */
  syncAside(): Promise<void>;
}

/**
 * The descriptor with which a database syncs its write-ahead log. It is opened once, after the database, and closed after it:
 * no other descriptor of these files may be closed meanwhile.
 */
export class WalFile implements SyncedLog {
  readonly #descriptor: number;

  constructor(databasePath: string) {
    this.#descriptor = openSync(`${databasePath}-wal`, 'r+');
  }

  syncHere(): void {
    fdatasyncSync(this.#descriptor);
  }

  syncAside(): Promise<void> {
    return new Promise((resolve, reject) => {
      fdatasync(this.#descriptor, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Writes zeros behind the log, up to a size. Only for the holder of the write lock: nobody else may write meanwhile. */
  makeRoom(bytes: number): void {
    const { size } = fstatSync(this.#descriptor);
    if (size < bytes) writeSync(this.#descriptor, new Uint8Array(bytes - size), 0, bytes - size, size);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

/** Not for a file that SQLite has open. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The bytes that are free on the disk of a file or folder. */
export function freeBytesOf(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}
