/**
 * The folder of a connection, kept in the store, so that another node continues with its files. It is written after
 * changes, at most once in `KEEP_EVERY_MS`, and before the connection is given to another node.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';
import { connectionLimits, packConnection, unpackConnection } from '../../workspace/packs/pack-connection.ts';
import { messageOf } from '../../ipc/check/frame-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConnectionLease } from '../../store/cluster-store.ts';

const KEEP_EVERY_MS = 2_000;

export interface KeptFolderDeps {
  readonly clock: Clock;
  readonly lease: Pick<ConnectionLease, 'readFolder' | 'writeFolder'>;
  readonly folder: string;
  /** Called when another node has the connection. */
  readonly lost: () => void;
  readonly warn: (message: string) => void;
}

export class KeptFolder {
  /** The files when they were last written to the store. */
  #written = '';
  #problem: string | undefined;
  #callOff: (() => void) | undefined;
  #last: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(private readonly deps: KeptFolderDeps) {}

  /** Puts the files of the store into the folder, and begins to keep it. **Errors** — those of the store and of the disk. */
  async open(): Promise<void> {
    const { lease, folder } = this.deps;
    const kept = await lease.readFolder();
    if (kept !== undefined) unpackConnection(kept, folder);
    if (kept !== undefined) this.#written = describe(folder);
    this.#schedule();
  }

  /** Writes the files for the last time. The process of the connection has ended. */
  async close(): Promise<void> {
    this.#isOver = true;
    this.#callOff?.();
    await this.#keep();
  }

  /** Stops without writing: the folder belongs to another node. */
  abandon(): void {
    this.#isOver = true;
    this.#callOff?.();
  }

  #schedule(): void {
    if (this.#isOver) return;
    this.#callOff = this.deps.clock.after(KEEP_EVERY_MS, () => void this.#keep().then(() => this.#schedule()));
  }

  #keep(): Promise<void> {
    this.#last = this.#last.then(() => this.#write());
    return this.#last;
  }

  async #write(): Promise<void> {
    const { lease, folder, warn, lost } = this.deps;
    try {
      const now = describe(folder);
      if (now === this.#written) return;
      await lease.writeFolder(packConnection(folder));
      this.#written = now;
      this.#problem = undefined;
    } catch (error) {
      if (GoondanError.is(error) && error.code === 'E_FENCED') return lost();
      const problem = messageOf(error);
      if (problem !== this.#problem) warn(`Its folder is not kept for other nodes: ${problem}`);
      this.#problem = problem;
    }
  }
}

/** Returns a text that changes with every file of the folder. No file is read. */
function describe(folder: string): string {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).slice(0, connectionLimits.mostFiles + 1);
  return JSON.stringify(
    found.toSorted().map((path) => {
      const { size, mtimeMs, ino } = lstatSync(join(folder, path), { throwIfNoEntry: false }) ?? {};
      return [path, size, mtimeMs, ino];
    }),
  );
}
