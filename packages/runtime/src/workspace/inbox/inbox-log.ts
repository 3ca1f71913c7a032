/**
 * Writes the inbox log of a workspace. Only its owner does.
 *
 * Invariants: 1. `write` resolves only when the line is durable. 2. All lines of one tick, and those that came while an
 * earlier write was under way, are one write with one sync (group commit). If it fails, all of them are rejected. 3. The
 * fence is checked before and after each write: before it, because the files may have another owner; after it, because a
 * write to a deleted file is lost. So is a write to a segment that somebody has removed. 4. A segment is removed only
 * when its successor, with all lines that are still needed, is durable. 5. A log that is being closed accepts no line.
 */
import { type AgentAddress, GoondanError } from '@goondan/types';
import type { HeldFile } from '../../ports/fs.ts';
import type { StoreLimits } from '../limits.ts';
import { replaceFile } from '../lines/replace-file.ts';
import type { DiskPace } from '../log-file/disk-pace.ts';
import { LogFile } from '../log-file/log-file.ts';
import type { StorePorts } from '../store-ports.ts';
import { encodeLine, type LineName, type NewLine } from './inbox-line.ts';
import { type InboxSegment, segmentPath } from './inbox-segments.ts';
import type { InboxContents } from './read-inbox-log.ts';

export interface InboxPlace extends Pick<StorePorts, 'fs' | 'fence' | 'warn'> {
  /** The folder of the log. */
  readonly folder: string;
  readonly limits: Pick<StoreLimits, 'inboxCompactionBytes' | 'logRoom'>;
  readonly pace: DiskPace;
}

/** Lines that a new segment begins with. */
export interface CopiedLines {
  readonly lines: readonly NewLine[];
  /** Called when the lines are durable. `number`: the segment that has them now. */
  readonly moved: (number: number) => void;
}

/** The contents of a new segment: the oldest segment that is still needed, and the lines to copy from older ones. */
export interface Compaction extends CopiedLines {
  readonly first: number;
  /** Segments to remove when the new segment is durable. */
  readonly dropped: readonly InboxSegment[];
  /** The last numbers of the instances that have pending lines in the segment that ends. */
  readonly last: readonly (readonly [agentName: string, instanceKey: string, seq: number])[];
}

/** More lines than a segment has. */
const MISSING_LINES = 2 ** 32;

export interface WrittenLine {
  /** The number of the line in the whole log. */
  readonly n: number;
  readonly segment: number;
  readonly bytes: number;
}

interface QueuedLine {
  readonly line: NewLine;
  readonly added: (written: WrittenLine) => void;
  readonly resolve: (written: WrittenLine) => void;
  readonly reject: (error: unknown) => void;
}

export class InboxLog {
  #queue: QueuedLine[] = [];
  /** The calls of `renew` that wait. */
  #renewals: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = [];
  #handled = new Map<AgentAddress, number>();
  #isFlushing = false;
  #failure: { readonly error: unknown } | undefined;
  #last: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #refusal: GoondanError | undefined;
  private file: LogFile | undefined;
  /** Tells whether the file of the current segment was removed. */
  #held: HeldFile | undefined;
  /** The contents of the next segment, which is begun before the first line is written. */
  #waiting: Compaction | undefined;

  private constructor(
    private readonly place: InboxPlace,
    private readonly plan: (isWhole: boolean) => Promise<Compaction>,
    private number: number,
    private n: number,
    private before: LineName | undefined,
  ) {}

  /**
   * Opens the log after its last line. All lines of `contents` are durable when the promise resolves, even those that a
   * killed process had not synced. A damaged segment is left as it is, and a new one is begun, with the lines `begin`; if
   * nobody knows whom the damage concerns, only when there is a line to write. `plan` says what a later segment begins with.
   * `isWhole`: if true, the new segment must replace all others.
   */
  static async open(
    place: InboxPlace,
    contents: InboxContents,
    plan: (isWhole: boolean) => Promise<Compaction>,
    begin: CopiedLines = { lines: [], moved: () => undefined },
  ): Promise<InboxLog> {
    const { fs, folder, fence } = place;
    const newest = contents.segments.at(-1);
    const { current, before, isClosed, lost } = contents;
    fence?.();
    if (newest && current && !newest.isDamaged && !isClosed) {
      const log = new InboxLog(place, plan, newest.number, contents.n, before);
      await log.#use(newest.path, current.end, current.durableEnd);
      await fs.syncFolder(folder);
      return log;
    }
    // The lines of a segment that is not written any more may be without a sync.
    if (newest) await syncSegment(place, newest.path);
    // The numbers of lost lines, and of a missing segment, are left out, so that their place stays empty.
    const number = (newest?.number ?? 0) + (current?.hasSuccessor ? 1 : 0);
    const log = new InboxLog(place, plan, number, contents.n + (lost ? MISSING_LINES : 0), before);
    const next = { ...begin, first: contents.segments[0]?.number ?? number + 1, dropped: [], last: [] };
    // Without this segment, a file that a person puts back is the newest one again, and may end anywhere.
    if (lost) log.#waiting = next;
    else await log.#begin(next);
    return log;
  }

  /** The current segment, with its size. */
  get current(): InboxSegment & { readonly bytes: number } {
    return { number: this.number, path: segmentPath(this.place.folder, this.number), bytes: this.file?.end ?? 0 };
  }

  /** True if nothing can be written any more. */
  get failed(): boolean {
    return this.#failure !== undefined || this.#refusal !== undefined;
  }

  /** The error of lines that come after `close`. */
  get refusal(): GoondanError | undefined {
    return this.#refusal;
  }

  /**
   * Writes a line durably. `added` is called when the line is durable, before any later line is written. **Errors** —
   * `E_DISK_FULL`, `E_FENCED`, `E_STORE_WRITE`; the line may then be on disk.
   */
  write(line: NewLine, added: (written: WrittenLine) => void = () => undefined): Promise<WrittenLine> {
    if (this.#failure) return Promise.reject(this.#failure.error);
    if (this.#refusal) return Promise.reject(this.#refusal);
    return new Promise((resolve, reject) => {
      this.#queue.push({ line, added, resolve, reject });
      this.#flushSoon();
    });
  }

  /** Begins a new segment with all lines that are still needed, and removes all older segments. **Errors** — as `write`. */
  renew(): Promise<void> {
    const refusal = this.#failure?.error ?? this.#refusal;
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise<void>((resolve, reject) => {
      this.#renewals.push({ resolve, reject });
      this.#flushSoon();
    });
  }

  /** Notes that the lines of an instance up to a number are handled. The note is written with the next line. */
  note(to: AgentAddress, handled: number): void {
    this.#handled.set(to, handled);
  }

  /** Ends the writes that are under way, writes the notes that are left, and closes the file. */
  close(): Promise<void> {
    this.#refusal ??= new GoondanError('E_STORE_WRITE', `The inbox log in ${this.place.folder} is closed`);
    this.#closing ??= this.#last.then(() => this.#close());
    return this.#closing;
  }

  async #close(): Promise<void> {
    // The notes only save work, so nothing is lost if they cannot be written.
    if (!this.#failure && this.#handled.size > 0) await this.#writeNotes().catch(() => undefined);
    this.#held?.close();
    await this.file?.close().catch(() => undefined);
  }

  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    this.#last = Promise.resolve().then(() => this.#flush());
  }

  async #flush(): Promise<void> {
    while (this.#queue.length > 0 || this.#renewals.length > 0) {
      try {
        if (this.#waiting) await this.#begin(this.#waiting);
        if (this.#isFull || this.#renewals.length > 0) await this.#rotate();
        if (this.#queue.length > 0) await this.#writeQueue();
      } catch (error) {
        this.#failure = { error };
        for (const { reject } of [...this.#queue.splice(0), ...this.#renewals.splice(0)]) reject(error);
      }
    }
    this.#isFlushing = false;
  }

  get #isFull(): boolean {
    return (this.file?.end ?? 0) >= this.place.limits.inboxCompactionBytes;
  }

  async #writeQueue(): Promise<void> {
    const batch = this.#queue.splice(0);
    try {
      const lines = batch.map(({ line }) => line);
      const texts = this.#encode([...this.#takeNotes(lines), ...lines]);
      await this.#writeDurably(texts.join(''));
      const own = texts.slice(-batch.length);
      const before = this.n - batch.length;
      for (const [index, { added, resolve }] of batch.entries()) {
        const written = { n: before + index + 1, segment: this.number, bytes: Buffer.byteLength(own[index] ?? '') };
        added(written);
        resolve(written);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
      throw error;
    }
  }

  async #writeDurably(text: string): Promise<void> {
    const { fence } = this.place;
    fence?.();
    await this.file?.writeDurably(Buffer.from(text));
    fence?.();
    if (this.#held?.isReplaced())
      throw new GoondanError('E_STORE_WRITE', `${this.current.path} was removed while it was in use.`, {
        suggestion:
          'This input is not accepted. Earlier input that no turn has handled was in the file: restore the file.',
      });
  }

  /** Continues with a segment. */
  async #use(path: string, end: number, durableEnd: number): Promise<void> {
    this.#held?.close();
    this.#held = undefined;
    this.file = await openSegment(this.place, path, end, durableEnd);
    this.#held = await this.place.fs.openLock(path);
  }

  async #writeNotes(): Promise<void> {
    this.place.fence?.();
    await this.file?.write(Buffer.from(this.#encode(this.#takeNotes()).join('')));
  }

  /** Takes the notes about instances that have no line in the same write. The other notes go along with these lines. */
  #takeNotes(lines: readonly NewLine[] = []): NewLine[] {
    if (this.#handled.size === 0) return [];
    const written = new Set(lines.map((line) => ('note' in line ? undefined : line.to)));
    const handled: [string, string, number][] = [];
    for (const [to, seq] of this.#handled) {
      if (written.has(to)) continue;
      handled.push([to.agentName, to.instanceKey, seq]);
      this.#handled.delete(to);
    }
    return handled.length === 0 ? [] : [{ note: { handled } }];
  }

  /** Gives the lines their places. */
  #encode(lines: readonly NewLine[]): string[] {
    const durable = this.n;
    return lines.map((line) => {
      const to = 'note' in line ? undefined : line.to;
      const handled = 'note' in line ? undefined : (this.#handled.get(line.to) ?? line.handled);
      if (to) this.#handled.delete(to);
      const text = encodeLine(line, { n: ++this.n, durable, before: this.before, handled });
      this.before = 'note' in line ? undefined : line;
      return text;
    });
  }

  /** Begins a new segment, and removes the segments that are not needed any more. */
  async #rotate(): Promise<void> {
    const renewals = this.#renewals.length;
    const plan = await this.plan(renewals > 0);
    const [closing = ''] = this.#encode([{ note: { closes: true, last: plan.last } }]);
    await this.#writeDurably(closing);
    await this.#begin(plan);
    for (const { path } of plan.dropped) await removeSegment(this.place, path);
    for (const { resolve } of this.#renewals.splice(0, renewals)) resolve();
  }

  /** Creates the next segment. Its file gets its name when the file is complete and durable. */
  async #begin({ first, lines, moved }: Compaction): Promise<void> {
    const { fs, folder, fence } = this.place;
    const number = this.number + 1;
    const path = segmentPath(folder, number);
    const head = { note: { segment: number, first: Math.min(first, number), from: this.n + 1 } };
    // The segments that are removed next may have lines whose end only a note tells.
    const bytes = Buffer.from(this.#encode([head, head, ...this.#takeNotes(lines), ...lines]).join(''));
    fence?.();
    await replaceFile(fs, path, Buffer.concat([bytes, ROOM]));
    fence?.();
    const old = this.file;
    await this.#use(path, bytes.length, bytes.length);
    this.number = number;
    this.#waiting = undefined;
    moved(number);
    // A segment that ends with a space has a successor, so a reader notices if the successor is missing.
    await old?.trim().catch(() => undefined);
    await old?.close().catch(() => undefined);
  }
}

/** Removes a segment whose lines are not needed any more. A file that stays is removed at the next start. */
export async function removeSegment({ fs, warn }: Pick<InboxPlace, 'fs' | 'warn'>, path: string): Promise<void> {
  await fs.remove(path).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    warn({ path, message: `not needed any more, but could not be removed: ${reason}` });
  });
}

async function syncSegment({ fs }: InboxPlace, path: string): Promise<void> {
  const file = await fs.openRoom(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** At least one zero follows the lines. */
const ROOM = new Uint8Array(1);

function openSegment(
  { fs, pace, limits }: InboxPlace,
  path: string,
  end: number,
  durableEnd: number,
): Promise<LogFile> {
  // A write has the lines of many instances, so it needs more room than a frame.
  const room = { ...limits.logRoom, first: limits.logRoom.first * 8 };
  return LogFile.open(fs, path, end, { pace, durableEnd, room });
}
