/**
 * Reads the lines of a segment of the inbox log, and distinguishes four things: room, which is zeros; a torn end, which a
 * crash leaves and which may be cut off; damaged lines, each with the instance it belongs to; and lost bytes, of which
 * nobody can say whose they were.
 */
import { endOfContent, isTorn } from '../records/torn-end.ts';
import { decodeLine, type InboxLine, type LineName, type NamedLine, nameOf } from './inbox-line.ts';

export interface ReadSegment {
  /** The intact lines, in their order. */
  readonly lines: readonly InboxLine[];
  /** The damaged lines that are known by name. */
  readonly damaged: readonly NamedLine[];
  /** The number of lines that are missing, and of which nobody says whose they were. */
  readonly unnamed: number;
  /** The number after that of the last line, missing lines included. */
  readonly next: number;
  /** A description of the first damage. Damage of the room is described too. */
  readonly damage?: string;
  /** The offset after the last line. */
  readonly end: number;
  /** The offset up to which the lines say that everything was durable. */
  readonly durableEnd: number;
  /** True if a crash left bytes after the last line. */
  readonly torn: boolean;
  /** The lines that these bytes still name. */
  readonly tornNames: readonly LineName[];
  /** True if a space follows the last line, which a segment gets when the next one is durable. */
  readonly hasSuccessor: boolean;
}

export interface ReadSegmentOptions {
  /** The offset of the bytes in the file. */
  readonly offset?: number;
  /** The number of the first line; any number when absent. */
  readonly next?: number | undefined;
  /** The number of the last line, which the next segment says; absent for the newest segment. Only its end can be torn. */
  readonly until?: number | undefined;
  /** If false, nothing is taken for a torn end. */
  readonly mayBeTorn?: boolean;
}

const NEWLINE = 0x0a;
const START = Buffer.from('{"crc":"');
/** Fewer bytes than this, without a line break, are not the rest of a line, but changed bytes of the room. */
const NOISE = 16;
/** A space, which `LogFile.trim` leaves instead of room. */
const CLOSED = 0x20;

export function readSegment(bytes: Uint8Array, options: ReadSegmentOptions): ReadSegment {
  return new SegmentReading(bytes, options).read();
}

class SegmentReading {
  readonly #lines: InboxLine[] = [];
  readonly #ends: number[] = [];
  readonly #damaged: NamedLine[] = [];
  readonly #content: number;
  #unnamed = 0;
  #damage: string | undefined;
  #at = 0;
  /** The number of the next line; `undefined` before the first line. */
  #next: number | undefined;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly options: ReadSegmentOptions,
  ) {
    this.#content = endOfContent(bytes);
    this.#next = options.next;
  }

  read(): ReadSegment {
    while (this.#at < this.#content && !this.#isComplete()) {
      const stop = this.bytes.indexOf(NEWLINE, this.#at);
      const line = stop === -1 ? undefined : decodeLine(this.bytes.subarray(this.#at, stop));
      if (line) {
        this.#take(line, stop + 1);
        continue;
      }
      if (this.#isClosed() || this.#isNoise()) break;
      if (this.#isTornEnd()) return this.#result(true);
      this.#passDamage();
    }
    if (!this.#isComplete() && (!this.#isCurrent || (this.#content === this.bytes.length && !this.#isClosed())))
      this.#loseEnd();
    return this.#result(false);
  }

  #take(line: InboxLine, end: number): void {
    const { n, before } = line;
    if (this.#next !== undefined && n < this.#next)
      this.#note(`the line at byte ${this.#offset} has number ${n} again`);
    if (this.#next !== undefined && n > this.#next) this.#name(line, before);
    if (this.#next === undefined || n >= this.#next) {
      this.#lines.push(line);
      this.#ends.push(end);
      this.#next = n + 1;
    }
    this.#at = end;
  }

  /** Finds out whose lines are missing before this one. */
  #name({ n }: InboxLine, before: NamedLine['name']): void {
    const from = this.#next ?? n;
    const known = new Set(this.#damaged.map((each) => each.n));
    if (!known.has(n - 1)) this.#damaged.push({ n: n - 1, ...(before && { name: before }) });
    known.add(n - 1);
    let named = 0;
    for (const each of known) if (each >= from && each < n) named += 1;
    this.#unnamed += n - from - named;
    this.#note(`${n - from} lines are missing before line ${n}`);
  }

  /** Passes over damaged bytes, up to the next intact line or to the end. */
  #passDamage(): void {
    this.#note(`the line at byte ${this.#offset} is damaged`);
    const stop = this.bytes.indexOf(NEWLINE, this.#at);
    const end = stop === -1 ? this.#content : stop;
    const piece = this.bytes.subarray(this.#at, end);
    // Only the line break of the first line may be changed.
    const second = this.#findSecond(piece);
    const part = second === undefined ? piece : piece.subarray(0, second);
    const name = nameOf(part) ?? nameOf(trimZeros(part));
    if (name) this.#damaged.push(name);
    const next = second === undefined ? Math.min(end + 1, this.bytes.length) : this.#at + second;
    this.#at = next;
    // A following line tells by its number how many lines are missing. At the end, nobody does.
    if (next < this.#content && !this.#isClosed()) return;
    if (name) this.#endWith(name);
    else this.#loseOne();
  }

  /** The last damaged line has a name; lines between it and the last intact one are missing without a name. */
  #endWith({ n }: NamedLine): void {
    if (this.#next === undefined || n < this.#next) return;
    const known = new Set(this.#damaged.map((each) => each.n));
    for (let each = this.#next; each < n; each += 1) if (!known.has(each)) this.#unnamed += 1;
    this.#next = n + 1;
  }

  /** Returns the offset in the piece at which another line begins. */
  #findSecond(piece: Uint8Array): number | undefined {
    const buffer = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    for (let at = buffer.indexOf(START, 1); at !== -1; at = buffer.indexOf(START, at + 1)) {
      if (decodeLine(piece.subarray(at)) || decodeLine(piece.subarray(0, at - 1))) return at;
    }
    return undefined;
  }

  #isTornEnd(): boolean {
    const { mayBeTorn = true } = this.options;
    if (!mayBeTorn || !this.#isCurrent || this.#content === this.bytes.length || this.#wasDurable()) return false;
    const { offset = 0 } = this.options;
    return isTorn(this.bytes.subarray(0, this.#content), this.#at, offset, (line) => decodeLine(line) !== undefined);
  }

  /** Returns true if an intact line after the bad one says that the bad one was durable. */
  #wasDurable(): boolean {
    const { bytes } = this;
    for (
      let at = bytes.indexOf(NEWLINE, this.#at) + 1;
      at > 0 && at < this.#content;
      at = bytes.indexOf(NEWLINE, at) + 1
    ) {
      // Blocks that were lost may precede the line.
      while (bytes[at] === 0) at += 1;
      const stop = bytes.indexOf(NEWLINE, at);
      const line = stop === -1 ? undefined : decodeLine(bytes.subarray(at, stop));
      if (line && (this.#next === undefined || line.durable >= this.#next)) return true;
    }
    return false;
  }

  /** Returns true if only a space follows, which a closed segment has at its end. */
  #isClosed(): boolean {
    return this.#at === this.#content - 1 && this.bytes[this.#at] === CLOSED;
  }

  #isNoise(): boolean {
    const rest = this.bytes.subarray(this.#at, this.#content);
    const count = rest.reduce((sum, byte) => sum + (byte === 0 ? 0 : 1), 0);
    if (count >= NOISE || rest.includes(NEWLINE) || isStart(rest)) return false;
    this.#note(`the room behind byte ${this.#offset} has other bytes than zeros`);
    return true;
  }

  /** Returns true if the next segment says that no line is missing. */
  #isComplete(): boolean {
    const { until } = this.options;
    return until !== undefined && this.#next !== undefined && this.#next > until;
  }

  get #isCurrent(): boolean {
    return this.options.until === undefined;
  }

  #loseEnd(): void {
    this.#note('its end is missing');
    this.#loseOne();
    const { until = 0 } = this.options;
    this.#unnamed += Math.max(0, until - (this.#next ?? until + 1) + 1);
    this.#next = Math.max(this.#next ?? 0, until + 1);
  }

  /** Counts a line of which nobody says whose it was. Its number stays unused. */
  #loseOne(): void {
    this.#unnamed += 1;
    if (this.#next !== undefined) this.#next += 1;
  }

  #note(damage: string): void {
    this.#damage ??= damage;
  }

  get #offset(): number {
    return (this.options.offset ?? 0) + this.#at;
  }

  #result(torn: boolean): ReadSegment {
    const { offset = 0 } = this.options;
    const durable = this.#lines.at(-1)?.durable ?? 0;
    const durableIndex = this.#lines.findLastIndex(({ n }) => n <= durable);
    return {
      lines: this.#lines,
      damaged: this.#damaged,
      unnamed: this.#unnamed,
      next: this.#next ?? 1,
      ...(this.#damage !== undefined && { damage: this.#damage }),
      end: offset + (this.#ends.at(-1) ?? 0),
      durableEnd: offset + (this.#ends[durableIndex] ?? 0),
      torn,
      tornNames: torn ? namesIn(this.bytes.subarray(this.#at, this.#content)) : [],
      hasSuccessor: this.#content === this.bytes.length && this.#isClosed(),
    };
  }
}

/** Returns true if a line can begin with these bytes, so that a crash can have left them. */
function isStart(rest: Uint8Array): boolean {
  return START.subarray(0, rest.length).equals(rest.subarray(0, START.length));
}

function namesIn(bytes: Uint8Array): LineName[] {
  const names: LineName[] = [];
  for (let at = 0; at < bytes.length;) {
    const stop = bytes.indexOf(NEWLINE, at);
    const end = stop === -1 ? bytes.length : stop;
    const name = nameOf(trimZeros(bytes.subarray(at, end)))?.name;
    if (name) names.push(name);
    at = end + 1;
  }
  return names;
}

function trimZeros(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (bytes[start] === 0) start += 1;
  return bytes.subarray(start, endOfContent(bytes, start));
}
