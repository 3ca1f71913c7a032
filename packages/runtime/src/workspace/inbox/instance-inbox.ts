/**
 * The input of one instance: the lines of the inbox log that are not handled yet.
 *
 * Invariants: 1. Lines of an instance have the numbers 1, 2, 3 and so on; numbers are not used again after a deletion.
 * 2. A line with a number up to `handled` does not count. 3. All other lines up to `written` are here. A line that is not
 * here is damaged or missing, and `problem` says so: the instance then does not start. 4. A line is taken out only when the
 * commit that handled it is durable. 5. The line of an event that a running turn has taken stays until all lines before
 * it are taken out, so the numbers of the lines in the log have no gaps.
 */
import type { AgentAddress } from '@goondan/types';
import type { HandledNumbers } from '../records/log-state.ts';
import type { InboxEntry, InboxPayload } from './inbox-line.ts';

export interface KeptLine {
  readonly payload: InboxPayload;
  readonly segment: number;
  /** The size of the line in the log. */
  readonly bytes: number;
}

/** The place of a damaged line: its segment, or the segment that has the `lost` line. */
export interface DamagedPlace {
  readonly segment: number;
  /** The damaged file; empty when it was removed. */
  readonly path: string;
}

export class InstanceInbox {
  /** The lines above `handled`, by number. */
  readonly lines = new Map<number, KeptLine>();
  /** The numbers of damaged lines. */
  readonly damaged = new Map<number, DamagedPlace>();
  /** The number of the last line, durable or being written. */
  last = 0;
  /** The number of the last line that is in the log. */
  written = 0;
  /** The number up to which lines are handled, durably, or deleted. It only grows. */
  handled = 0;
  /** The number up to which lines are handled, as the log of the instance says. Its commits may not be durable yet. */
  committed = 0;
  /** The numbers above `committed` of lines that turns have taken, as the log of the instance says. */
  readonly ahead = new Set<number>();
  /** Those of `ahead` whose commits are durable. */
  readonly #settled = new Set<number>();
  /** The number of the line that began a deletion, while nothing says how it ended. */
  deleting: number | undefined;
  /** The number of the line that ended the last deletion. */
  ended = 0;
  /** The place in the log of the last deletion. Damage before it does not concern this instance. */
  deletedAt = 0;
  events = 0;
  /** The size of the lines. */
  bytes = 0;
  /** The size of the payloads that are being written. */
  queuedBytes = 0;
  /** The segment before which the log of the instance was read last, to find lines that are handled. */
  askedAt = 0;
  /** The last segment that has a line or a note about the instance, or will have it. */
  seenIn = 0;

  constructor(readonly address: AgentAddress) {}

  /** True if all lines are known as handled. */
  get isEmpty(): boolean {
    return !this.#hasPending(this.lines) && !this.#hasPending(this.damaged);
  }

  /** True if the memory has nothing that a reader of the log of the instance does not know. */
  get isIdle(): boolean {
    const { lines, damaged, deleting, deletedAt, queuedBytes } = this;
    return lines.size + damaged.size + deletedAt + queuedBytes === 0 && deleting === undefined;
  }

  /** Adds a line of the log. A line that is here already, or that is handled, changes nothing. */
  add(seq: number, line: KeptLine, n = 0): void {
    const { payload } = line;
    if ('lost' in payload) {
      for (const each of payload.lost) this.lose(each, { segment: line.segment, path: '' });
      return;
    }
    this.reach(seq);
    if (seq <= this.handled) return;
    const known = this.lines.get(seq);
    // A deletion may have the number of a line in a file that was missing then.
    if (known && !('deleted' in payload)) return;
    this.damaged.delete(seq);
    this.lines.set(seq, line);
    this.bytes += line.bytes - (known?.bytes ?? 0);
    if ('event' in payload) this.events += 1;
    if (known && 'event' in known.payload) this.events -= 1;
    // A copy of the first line of a deletion may be read after the line that ended the deletion.
    if ('deleting' in payload && seq > this.ended) this.deleting = seq;
    if ('kept' in payload || 'deleted' in payload) this.#endDeletion(seq);
    if ('deleted' in payload) {
      this.deletedAt = n;
      this.take(seq);
    }
  }

  /** Notes that a line was damaged. */
  lose(seq: number, place: DamagedPlace): void {
    this.reach(seq);
    if (seq > this.handled && !this.lines.has(seq)) this.damaged.set(seq, place);
  }

  /** Notes the last missing line as damaged, so that a compaction keeps it. All lines up to it are reported with it. */
  loseMissing(segment: number): void {
    for (let seq = this.written; seq > this.handled; seq -= 1) {
      if (this.lines.has(seq)) continue;
      if (!this.damaged.has(seq)) this.lose(seq, { segment, path: '' });
      return;
    }
  }

  /** Notes how far the log of the instance is. The lines stay until its commits are durable. */
  commit({ handled, taken }: HandledNumbers): void {
    this.committed = Math.max(this.committed, handled);
    for (const seq of taken) if (seq > this.committed) this.ahead.add(seq);
    for (const seq of this.ahead) if (seq <= this.committed) this.ahead.delete(seq);
    this.reach(Math.max(handled, ...this.ahead));
  }

  /** Notes that the commits are durable which have handled these lines. Returns the ids of their events, oldest first. */
  settle({ handled, taken }: HandledNumbers): string[] {
    this.commit({ handled, taken });
    const ids = taken.flatMap((seq) => this.#settleOne(seq));
    const before = this.take(handled);
    this.#takeFurther();
    return [...before, ...ids];
  }

  /** Returns true if a commit has handled lines that `settle` does not know of. */
  get isUnsettled(): boolean {
    return (
      this.committed > this.handled || [...this.ahead].some((seq) => seq > this.handled && !this.#settled.has(seq))
    );
  }

  /** Notes that the log has, or had, a line with this number. */
  reach(seq: number): void {
    this.last = Math.max(this.last, seq);
    this.written = Math.max(this.written, seq);
  }

  /** Takes out the lines up to this number. Returns the ids of their events, oldest first. */
  take(handled: number): string[] {
    if (handled <= this.handled) return [];
    this.handled = handled;
    this.reach(handled);
    const taken: [number, string][] = [];
    for (const [seq, { payload, bytes }] of this.lines) {
      if (seq > handled) continue;
      this.lines.delete(seq);
      this.bytes -= bytes;
      if (!('event' in payload)) continue;
      this.events -= 1;
      taken.push([seq, payload.event.id]);
    }
    for (const seq of this.damaged.keys()) if (seq <= handled) this.damaged.delete(seq);
    this.#takeFurther();
    return taken.toSorted(([one], [other]) => one - other).map(([, id]) => id);
  }

  /** Notes that the lines of these segments are in another one now. */
  move(from: ReadonlySet<number>, segment: number): void {
    this.seenIn = Math.max(this.seenIn, segment);
    for (const [seq, line] of this.lines) if (from.has(line.segment)) this.lines.set(seq, { ...line, segment });
    for (const [seq, place] of this.damaged) if (from.has(place.segment)) this.damaged.set(seq, { segment, path: '' });
  }

  /** Returns the pending lines, oldest first. */
  sorted(): [seq: number, line: KeptLine][] {
    return [...this.lines].toSorted(([one], [other]) => one - other);
  }

  /** Returns the pending events, oldest first. A cancel mark becomes the field `cancelled` of its event. */
  entries(): InboxEntry[] {
    const entries = new Map<number, InboxEntry>();
    for (const [seq, { payload }] of this.sorted()) {
      if ('event' in payload && this.#isPending(seq)) entries.set(seq, { seq, event: payload.event });
      const entry = 'cancels' in payload ? entries.get(payload.cancels) : undefined;
      // The event is absent if it was handled meanwhile.
      if (entry && 'cancels' in payload) entries.set(entry.seq, { ...entry, cancelled: payload.reason });
    }
    return [...entries.values()];
  }

  /** Returns the damage to the lines that are not handled, neither by the log of the instance nor by what is known here. */
  problem({ handled, taken }: HandledNumbers): { readonly path: string; readonly problem: string } | undefined {
    // If the line of a taken event has left the log, so have all lines before it that are not here (invariant 5).
    const gone = taken.filter((seq) => !this.lines.has(seq));
    for (const [seq, { path }] of this.damaged)
      if (seq > handled && !taken.includes(seq))
        return path ? { path, problem: `line ${seq} of this instance is damaged` } : lostLine(seq);
    for (let seq = Math.max(handled, this.handled, ...gone) + 1; seq <= this.written; seq += 1)
      if (!this.lines.has(seq)) return lostLine(seq);
    return undefined;
  }

  #isPending(seq: number): boolean {
    return seq > this.committed && !this.ahead.has(seq);
  }

  #hasPending(numbers: ReadonlyMap<number, unknown>): boolean {
    for (const seq of numbers.keys()) if (this.#isPending(seq)) return true;
    return false;
  }

  /** Notes that the line of a taken event need not stay for itself. Returns the id of its event, if it was not noted before. */
  #settleOne(seq: number): string[] {
    if (seq <= this.handled || this.#settled.has(seq)) return [];
    this.#settled.add(seq);
    const payload = this.lines.get(seq)?.payload;
    return payload && 'event' in payload ? [payload.event.id] : [];
  }

  #endDeletion(seq: number): void {
    this.ended = Math.max(this.ended, seq);
    if ((this.deleting ?? seq) <= seq) this.deleting = undefined;
    this.#takeFurther();
  }

  /** Takes out the lines that follow the handled ones and are not needed: those of taken events, and marks. */
  #takeFurther(): void {
    for (let next = this.lines.get(this.handled + 1); next; next = this.lines.get(this.handled + 1)) {
      const { payload, bytes } = next;
      if (this.#isUsed(payload, this.handled + 1)) return;
      this.handled += 1;
      this.lines.delete(this.handled);
      this.bytes -= bytes;
      if ('event' in payload) this.events -= 1;
    }
    for (const seq of this.#settled) if (seq <= this.handled) this.#settled.delete(seq);
  }

  #isUsed(payload: InboxPayload, seq: number): boolean {
    if ('event' in payload) return !this.#settled.has(seq);
    return 'cancels' in payload ? payload.cancels > this.handled : !this.#isEnded(payload, seq);
  }

  #isEnded(payload: InboxPayload, seq: number): boolean {
    return ('deleting' in payload || 'kept' in payload) && seq <= this.ended;
  }
}

/** Describes a line of which no file is known. */
export function lostLine(seq: number): { readonly path: string; readonly problem: string } {
  return { path: '', problem: `line ${seq} of this instance is missing` };
}
