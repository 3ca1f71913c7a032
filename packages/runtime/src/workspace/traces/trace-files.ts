/**
 * The traces of an instance, in a few append-only segments (`trace-segment.ts`).
 *
 * 1. The number of turns and their bytes are bounded: the oldest segment is deleted when a new turn begins. The bytes of
 *    one turn are bounded as well.
 * 2. Nothing is synced: a power loss may lose the last lines, but no state.
 * 3. A resumed turn continues under its first name.
 * 4. Files of one turn each, which an older version wrote, count as segments of one turn.
 */
import { join } from 'node:path';
import type { Fs } from '../../ports/fs.ts';
import type { TraceLine } from '../../trace/trace-lines.ts';
import type { StoreLimits } from '../limits.ts';
import { AppendLog } from '../lines/append-log.ts';
import type { LineWriter } from '../lines/gathered-log.ts';
import { readTraceName, traceName } from './trace-names.ts';
import {
  encodeIndex,
  encodeLine,
  encodeTurn,
  readSegmentIndex,
  segmentName,
  segmentNumber,
  type SegmentIndex,
  type SegmentTurn,
} from './trace-segment.ts';

/** A line of a trace, and its turn. */
export interface TurnLine {
  readonly turn: Parameters<typeof traceName>[0];
  /** True for the lines that begin and end a turn, which are written even if the turn has reached its limit. */
  readonly isNeeded: boolean;
  /**
   * Returns the JSON of the line. It is called when the line is written, and returns `undefined` when the line is no
   * longer needed.
   */
  text(): string | undefined;
}

interface KeptFile {
  readonly file: string;
  bytes: number;
  /** The names of the turns in the file. */
  readonly names: Set<string>;
}

interface OpenSegment extends KeptFile {
  readonly log: AppendLog;
  readonly turns: SegmentTurn[];
  next: number;
}

/** The turn whose lines are being written. */
interface CurrentTurn {
  readonly turnId: string;
  readonly entry: SegmentTurn;
  bytes: number;
  isCut: boolean;
}

/** A segment is full when it has this share of the limits. */
const SHARE = 8;

export class TraceFiles implements LineWriter<TurnLine> {
  #segment: OpenSegment | undefined;
  #current: CurrentTurn | undefined;
  /** Lines that are not written yet. */
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;

  private constructor(
    private readonly fs: Fs,
    private readonly folder: string,
    private readonly limits: StoreLimits['traces'],
    /** Oldest first. */
    private readonly kept: KeptFile[],
    /** The index of the newest segment, if it is not full. */
    private readonly started: SegmentIndex | undefined,
  ) {}

  /** Opens the segments; the folder must exist. */
  static async open(fs: Fs, folder: string, limits: StoreLimits['traces']): Promise<TraceFiles> {
    const files = ((await fs.list(folder)) ?? []).toSorted();
    const kept: KeptFile[] = [];
    for (const file of files.filter((name) => readTraceName(name) !== undefined)) {
      kept.push({ file, bytes: (await fs.stat(join(folder, file)))?.size ?? 0, names: new Set([file.slice(0, -6)]) });
    }
    let newest: SegmentIndex | undefined;
    for (const file of files.filter((name) => segmentNumber(name) !== undefined)) {
      newest = await readSegmentIndex(fs, join(folder, file));
      if (newest === undefined) continue;
      kept.push({ file, bytes: newest.bytes, names: new Set(newest.turns.map(({ name }) => name)) });
    }
    return new TraceFiles(fs, folder, limits, kept, newest?.isFull === false ? newest : undefined);
  }

  async append(lines: readonly TurnLine[]): Promise<void> {
    for (const line of lines) {
      const current = await this.#turnOf(line);
      const text = this.#textOf(line, current);
      if (text === undefined) continue;
      current.bytes += this.#add(encodeLine(current.entry.n, text));
    }
    await this.#write();
  }

  async close(): Promise<void> {
    const segment = this.#segment;
    this.#segment = undefined;
    this.#current = undefined;
    await segment?.log.close();
  }

  #textOf(line: TurnLine, current: CurrentTurn): string | undefined {
    if (line.isNeeded || current.bytes < this.limits.turnBytes) return line.text();
    if (current.isCut) return undefined;
    current.isCut = true;
    return JSON.stringify({ type: 'cut' } satisfies TraceLine);
  }

  async #turnOf({ turn }: TurnLine): Promise<CurrentTurn> {
    if (this.#current?.turnId === turn.turnId) return this.#current;
    const before = this.#nameOf(turn);
    const segment = await this.#segmentWithRoom(before);
    const name = before ?? traceName(turn).slice(0, -6);
    if (before === undefined) await this.#makeRoom(segment);
    const n = segment.next++;
    const from = segment.log.size + this.#waitingBytes;
    const entry = { name, n, from, to: from };
    const bytes = segment.turns.reduce((sum, each) => sum + (each.name === name ? each.to - each.from : 0), 0);
    segment.turns.push(entry);
    segment.names.add(name);
    this.#current = { turnId: turn.turnId, entry, bytes, isCut: false };
    this.#add(encodeTurn(n, name));
    return this.#current;
  }

  /** Returns the name of a turn that has begun before, which is the name of its first run. */
  #nameOf(turn: TurnLine['turn']): string | undefined {
    // The names of all runs of a turn differ only in their times.
    const name = traceName(turn).slice(0, -6);
    const ending = name.slice(name.indexOf('~'));
    for (const { names } of this.kept) for (const known of names) if (known.endsWith(ending)) return known;
    return undefined;
  }

  /** Returns the open segment, or begins one if it is full. A turn that continues may overfill its segment. */
  async #segmentWithRoom(continued: string | undefined): Promise<OpenSegment> {
    const segment = (this.#segment ??= await this.#openSegment(this.started));
    const isFull =
      segment.names.size >= Math.max(1, Math.floor(this.limits.turns / SHARE)) ||
      segment.log.size + this.#waitingBytes >= this.limits.bytes / SHARE;
    if (!isFull || (continued !== undefined && segment.names.has(continued))) return segment;
    this.#add(encodeIndex(segment.turns));
    await this.#write();
    await this.close();
    this.#segment = await this.#openSegment(undefined);
    return this.#segment;
  }

  async #openSegment(started: SegmentIndex | undefined): Promise<OpenSegment> {
    const newest = this.kept.findLast(({ file }) => segmentNumber(file) !== undefined);
    const isNew = started === undefined || newest === undefined;
    const fresh = {
      file: segmentName((segmentNumber(newest?.file ?? '') ?? 0) + 1),
      bytes: 0,
      names: new Set<string>(),
    };
    const file = isNew ? fresh : newest;
    const log = await AppendLog.open(this.fs, join(this.folder, file.file));
    await log.endLine(this.fs);
    if (isNew) this.kept.push(fresh);
    const turns = isNew ? [] : started.turns.map((turn) => ({ ...turn }));
    const segment = { ...file, log, turns, next: isNew ? 0 : started.next };
    return segment;
  }

  /** Deletes the oldest files until one more turn has room. */
  async #makeRoom({ file: open }: KeptFile): Promise<void> {
    const isTooMuch = () => {
      const names = new Set(this.kept.flatMap((each) => [...each.names]));
      return (
        names.size >= this.limits.turns || this.kept.reduce((sum, { bytes }) => sum + bytes, 0) > this.limits.bytes
      );
    };
    while (isTooMuch()) {
      const [oldest] = this.kept;
      if (oldest === undefined || oldest.file === open) return;
      await this.fs.remove(join(this.folder, oldest.file));
      this.kept.shift();
    }
  }

  /** Adds a line to the next write. Returns its size. */
  #add(line: string): number {
    const bytes = Buffer.from(`${line}\n`);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#current !== undefined && this.#segment !== undefined) {
      this.#current.entry.to = this.#segment.log.size + this.#waitingBytes;
    }
    return bytes.length;
  }

  async #write(): Promise<void> {
    const [waiting, size] = [this.#waiting, this.#waitingBytes];
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (this.#segment === undefined || size === 0) return;
    await this.#segment.log.write(Buffer.concat(waiting, size));
    const kept = this.kept.findLast(({ file }) => file === this.#segment?.file);
    if (kept !== undefined) kept.bytes = this.#segment.log.size;
  }
}
