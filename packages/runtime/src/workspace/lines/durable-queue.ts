/**
 * A bounded, ordered set of entries on disk: answers to deliver, dead letters, approval requests. Each line either adds
 * or removes an entry. When most lines belong to removed entries, the file is rewritten.
 *
 * `add` does nothing for a key that the file has, or that is one of the last `REMEMBERED` removed keys. So a commit
 * that recovery applies a second time does not deliver its answer twice.
 */
import type { JsonValue } from '@goondan/types';
import type { StorePorts } from '../store-ports.ts';
import { AppendLog } from './append-log.ts';
import { corruptStore } from './corrupt-store.ts';
import { openLines } from './open-lines.ts';
import { readIntactLines, readLines, type StoredLine } from './read-lines.ts';
import { replaceFile } from './replace-file.ts';
import { sealLines } from './seal-lines.ts';

export interface QueueEntry {
  readonly key: string;
  readonly value: JsonValue;
}

const REMEMBERED = 256;

export class DurableQueue {
  readonly #ports: StorePorts;
  readonly #compactAfter: number;
  readonly #entries: Map<string, JsonValue>;
  #removed: string[];
  #lines: number;
  #log: AppendLog;

  private constructor(ports: StorePorts, compactAfter: number, log: AppendLog, lines: readonly StoredLine[]) {
    const { entries, removed } = replayQueue(lines, ports, log.path);
    this.#ports = ports;
    this.#compactAfter = compactAfter;
    this.#log = log;
    this.#entries = entries;
    this.#removed = removed;
    this.#lines = lines.at(-1)?.seq ?? 0;
  }

  static async open(ports: StorePorts, path: string, compactAfter: number): Promise<DurableQueue> {
    const { lines, log } = await openLines(ports, path);
    return new DurableQueue(ports, compactAfter, log, lines);
  }

  get size(): number {
    return this.#entries.size;
  }

  get entries(): readonly QueueEntry[] {
    return Array.from(this.#entries, ([key, value]) => ({ key, value }));
  }

  /** Returns the entry with this key, if there is one. */
  find(key: string): readonly QueueEntry[] {
    const value = this.#entries.get(key);
    return value === undefined ? [] : [{ key, value }];
  }

  /**
   * Adds an entry, which is durable when the promise resolves. Does nothing when the key exists, or was removed
   * recently.
   */
  async add(key: string, value: JsonValue): Promise<void> {
    if (this.#entries.has(key) || this.#removed.includes(key)) return;
    await this.#append(JSON.stringify({ seq: this.#lines + 1, key, value }));
    this.#entries.set(key, value);
  }

  /**
   * Adds an entry, or replaces the entry with this key. Unlike `add`, it also accepts a key that was removed recently.
   * The entry is durable when the promise resolves.
   */
  async put(key: string, value: JsonValue): Promise<void> {
    await this.#append(JSON.stringify({ seq: this.#lines + 1, key, value }));
    this.#entries.set(key, value);
    await this.#compactIfDue();
  }

  /** Removes entries in one write. The removal is durable when the promise resolves. Keys that do not exist are ignored. */
  async remove(...keys: readonly string[]): Promise<void> {
    const removed = keys.filter((key) => this.#entries.has(key));
    if (removed.length === 0) return;
    await this.#append(JSON.stringify({ seq: this.#lines + 1, removed }));
    for (const key of removed) this.#entries.delete(key);
    this.#removed = [...this.#removed, ...removed].slice(-REMEMBERED);
    await this.#compactIfDue();
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  async #append(text: string): Promise<void> {
    await this.#log.append(sealLines([text]));
    this.#lines += 1;
  }

  async #compactIfDue(): Promise<void> {
    if (this.#lines > this.#compactAfter && this.#entries.size * 4 < this.#lines) await this.#compact();
  }

  async #compact(): Promise<void> {
    const compacted = encodeQueue({ entries: this.#entries, removed: this.#removed });
    await replaceFile(this.#ports.fs, this.#log.path, compacted);
    const old = this.#log;
    this.#log = await AppendLog.open(this.#ports.fs, old.path);
    this.#lines = this.#entries.size + 1;
    await old.close();
  }
}

/** Reads the entries for processes that do not own the file. **Errors** — `E_STORE_CORRUPT`, `E_STORE_READ`. */
export async function readQueue(ports: StorePorts, path: string): Promise<readonly QueueEntry[]> {
  return (await readQueueFile(ports, path)).entries;
}

/** Like `readQueue`, with the keys that were removed last. */
export async function readQueueFile(
  ports: StorePorts,
  path: string,
): Promise<{ readonly entries: readonly QueueEntry[]; readonly removed: readonly string[] }> {
  const { lines, torn, damage } = readLines((await ports.fs.read(path)) ?? new Uint8Array());
  if (damage) throw await corruptStore(ports, path, damage);
  if (torn) ports.warn({ path, message: 'left out its last line, which is incomplete' });
  const { entries, removed } = replayQueue(lines, ports, path);
  return { entries: Array.from(entries, ([key, value]) => ({ key, value })), removed };
}

/** Rewrites a damaged file with the entries of its intact lines. Returns the places of the lines that are left out. */
export async function keepIntactLines(ports: StorePorts, path: string): Promise<readonly number[]> {
  const { lines, damaged } = readIntactLines((await ports.fs.read(path)) ?? new Uint8Array());
  await replaceFile(ports.fs, path, encodeQueue(replayQueue(lines, ports, path)));
  return damaged;
}

/**
 * Returns the bytes of a file without the entries for which `isLeftOut` returns true, and the number of those entries. A damaged
 * file stays as it is: the next one who opens it reports the damage.
 */
export function leaveOut(
  bytes: Uint8Array,
  isLeftOut: (entry: QueueEntry) => boolean,
): { readonly bytes: Uint8Array; readonly leftOut: number } {
  const { lines, damage } = readLines(bytes);
  if (damage) return { bytes, leftOut: 0 };
  const { entries, removed } = replayQueue(lines, { warn: () => undefined }, '');
  const left = Array.from(entries, ([key, value]) => ({ key, value })).filter(isLeftOut);
  if (left.length === 0) return { bytes, leftOut: 0 };
  for (const { key } of left) entries.delete(key);
  return { bytes: encodeQueue({ entries, removed }), leftOut: left.length };
}

function encodeQueue({ entries, removed }: Pick<ReturnType<typeof replayQueue>, 'entries' | 'removed'>): Uint8Array {
  const live = Array.from(entries, ([key, value], index) => JSON.stringify({ seq: index + 2, key, value }));
  return sealLines([JSON.stringify({ seq: 1, removed }), ...live]);
}

/** A line that this file cannot have written is left out, with a warning. */
function replayQueue(
  lines: readonly StoredLine[],
  { warn }: Pick<StorePorts, 'warn'>,
  path: string,
): { entries: Map<string, JsonValue>; removed: string[] } {
  const entries = new Map<string, JsonValue>();
  const removed: string[] = [];
  for (const { seq, fields } of lines) {
    const { key, value = null, removed: keys } = fields;
    if (typeof key === 'string') entries.set(key, value);
    else if (isTexts(keys)) {
      for (const each of keys) entries.delete(each);
      removed.push(...keys);
    } else warn({ path, message: `left out line ${seq}, which is neither an entry nor a removal` });
  }
  return { entries, removed: removed.slice(-REMEMBERED) };
}

function isTexts(value: JsonValue | undefined): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
