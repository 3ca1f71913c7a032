/**
 * Stores the counters of budgets of one workspace in `<workspace>/counters.jsonl`, each with its open reservations. Only the
 * orchestrator writes the file. Counters of a minute and of concurrent calls are not written.
 *
 * Invariants: 1. When `save` resolves, the states of that moment or newer ones are durable. 2. All states that change while
 * a write runs are in the next write. 3. After a disk error, the next write opens the file again, which repairs it. 4. A
 * damaged file is copied aside, and a damaged line loses only its own state.
 */
import type { JsonValue } from '@goondan/types';
import type { CounterState } from '../../counters/counter-state.ts';
import { codedFs } from '../../ports/coded-fs.ts';
import { type Fs, systemFs } from '../../ports/fs.ts';
import { countersPath, type JournalLocation, workspaceFolder } from '../layout/instance-paths.ts';
import { isCorrupt } from '../lines/corrupt-store.ts';
import { DurableQueue, keepIntactLines } from '../lines/durable-queue.ts';
import { readIntactLines, readLines } from '../lines/read-lines.ts';
import { replaceFile } from '../lines/replace-file.ts';
import type { StorePorts } from '../store-ports.ts';

const COMPACT_AFTER_LINES = 512;
/** The damaged lines that a message names. */
const MOST_SHOWN = 5;

export class CounterFile {
  /** The states to write, by counter; `undefined` for a removed counter. */
  #changed = new Map<string, CounterState | undefined>();
  #queue: DurableQueue | undefined;
  #writing: Promise<void> = Promise.resolve();
  /** The next write, which has not begun. */
  #next: Promise<void> | undefined;

  private constructor(
    private readonly ports: StorePorts,
    readonly path: string,
  ) {}

  /**
   * Opens the file; the folder of the workspace must exist. Returns it with the stored states. **Errors** —
   * `E_STORE_READ`, `E_STORE_WRITE`, `E_DISK_FULL`.
   */
  static async open(ports: StorePorts, { stateRoot, workspaceId }: JournalLocation) {
    const path = countersPath(workspaceFolder(stateRoot, workspaceId));
    const file = new CounterFile({ ...ports, fs: codedFs(ports.fs) }, path);
    // Opened only if it exists: most swarms have no budget.
    const isStored = (await file.ports.fs.stat(path)) !== undefined;
    return { file, states: isStored ? statesOf(await file.#opened()) : [] };
  }

  /** Writes the state of a counter; without a state, removes the counter. **Errors** — those of the disk. */
  save(changed: Iterable<readonly [string, CounterState | undefined]>): Promise<void> {
    for (const [counter, state] of changed) this.#changed.set(counter, state);
    if (this.#changed.size === 0) return Promise.resolve();
    this.#next ??= this.#writing.then(() => {
      this.#next = undefined;
      const written = this.#write();
      this.#writing = written.catch(() => undefined);
      return written;
    });
    return this.#next;
  }

  /** Waits for the last write. Nothing may be saved after this call. */
  async close(): Promise<void> {
    await this.#next?.catch(() => undefined);
    await this.#writing;
    await this.#queue?.close();
    this.#queue = undefined;
  }

  async #write(): Promise<void> {
    const states = this.#changed;
    this.#changed = new Map();
    try {
      const queue = await this.#opened();
      for (const [counter, state] of states) {
        // Safe: a state has only JSON values.
        if (state !== undefined) await queue.put(counter, state as unknown as JsonValue);
        else await queue.remove(counter);
      }
    } catch (error) {
      const queue = this.#queue;
      this.#queue = undefined;
      // The states are written with the next ones.
      for (const [counter, state] of states) if (!this.#changed.has(counter)) this.#changed.set(counter, state);
      await queue?.close().catch(() => undefined);
      throw error;
    }
  }

  async #opened(): Promise<DurableQueue> {
    this.#queue ??= await openOrBegin(this.ports, this.path);
    return this.#queue;
  }
}

function statesOf(queue: DurableQueue): readonly (readonly [string, CounterState])[] {
  // Safe: the checksum of each line was verified, and only `save` writes lines.
  return queue.entries.map(({ key, value }) => [key, value as unknown as CounterState]);
}

async function openOrBegin(ports: StorePorts, path: string): Promise<DurableQueue> {
  const begin = () => replaceFile(ports.fs, path, new Uint8Array());
  const open = () => DurableQueue.open(ports, path, COMPACT_AFTER_LINES);
  if ((await ports.fs.stat(path)) === undefined) await begin();
  try {
    return await open();
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    const kept = describeLines(await keepIntactLines(ports, path));
    ports.warn({ path, message: `${error.message}; ${kept}` });
    return open();
  }
}

/**
 * Returns one line of text if the file of counters is damaged. A write that a crash interrupted is not damage. **Errors**
 * — `E_STORE_READ`.
 */
export async function findCounterDamage(
  { stateRoot, workspaceId }: JournalLocation,
  fs: Fs = systemFs,
): Promise<string | undefined> {
  const path = countersPath(workspaceFolder(stateRoot, workspaceId));
  const bytes = (await codedFs(fs).read(path)) ?? new Uint8Array();
  const { damage } = readLines(bytes);
  return damage && `${path} is damaged: ${damage}; ${describeLines(readIntactLines(bytes).damaged)}`;
}

function describeLines(damaged: readonly number[]): string {
  if (damaged.length === 0) return 'all its lines are kept';
  const shown = damaged.slice(0, MOST_SHOWN).join(', ') + (damaged.length > MOST_SHOWN ? ', …' : '');
  const lines = damaged.length === 1 ? `line ${shown} is` : `lines ${shown} are`;
  return `${lines} left out: a budget whose last line that was has an older count, or begins again at 0`;
}
