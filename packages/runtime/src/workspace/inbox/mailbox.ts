/**
 * The input of one instance: the lines of the inbox log that are not handled yet.
 *
 * Invariants: 1. Lines of an instance have the numbers 1, 2, 3 and so on; numbers are not used again after a deletion.
 * 2. A line with a number up to `handled` does not count. 3. All other lines up to `last` are here. A line that is not here
 * is damaged or missing, and `problem` says so: the instance then does not start.
 */
import type { AgentAddress } from '@goondan/types';
import type { InboxEntry, InboxPayload } from './inbox-line.ts';

export interface KeptLine {
  readonly payload: InboxPayload;
  readonly segment: number;
  /** The size of the line in the log. */
  readonly bytes: number;
}

export class Mailbox {
  /** The lines above `handled`, by number. */
  readonly lines = new Map<number, KeptLine>();
  /** The numbers of damaged lines, each with the file in which the line was. */
  readonly damaged = new Map<number, string>();
  /** The number of the last line, durable or being written. */
  last = 0;
  /** The number of the last line that is in the log. */
  written = 0;
  /** The number up to which lines are handled or deleted. It only grows. */
  handled = 0;
  /** The part of `handled` that is durable. Lines tell it to readers. */
  settled = 0;
  /** The number of the line that began a deletion, while nothing says how it ended. */
  deleting: number | undefined;
  /** The place in the log of the last deletion. Damage before it does not concern this instance. */
  deletedAt = 0;
  events = 0;
  bytes = 0;

  constructor(readonly address: AgentAddress) {}

  get isEmpty(): boolean {
    return this.lines.size === 0 && this.damaged.size === 0;
  }

  /** Adds a line of the log. A line that is here already, or that is handled, changes nothing. */
  add(seq: number, line: KeptLine, n = 0): void {
    const { payload } = line;
    if ('lost' in payload) {
      for (const each of payload.lost) this.lose(each, '');
      return;
    }
    this.reach(seq);
    if (seq <= this.handled || this.lines.has(seq)) return;
    this.damaged.delete(seq);
    this.lines.set(seq, line);
    this.bytes += line.bytes;
    if ('event' in payload) this.events += 1;
    if ('deleting' in payload) this.deleting = seq;
    if ('kept' in payload) this.deleting = undefined;
    if ('deleted' in payload) {
      this.deleting = undefined;
      this.deletedAt = n;
      this.take(seq);
      this.settled = seq;
    }
  }

  /** Notes that a line was damaged. */
  lose(seq: number, path: string): void {
    this.reach(seq);
    if (seq > this.handled && !this.lines.has(seq)) this.damaged.set(seq, path);
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
    return taken.toSorted(([one], [other]) => one - other).map(([, id]) => id);
  }

  /** Notes that the lines of these segments are in another one now. */
  move(from: ReadonlySet<number>, segment: number): void {
    for (const [seq, line] of this.lines) if (from.has(line.segment)) this.lines.set(seq, { ...line, segment });
  }

  /** Returns the pending lines, oldest first. */
  sorted(): [seq: number, line: KeptLine][] {
    return [...this.lines].toSorted(([one], [other]) => one - other);
  }

  /** Returns the pending events, oldest first. A cancel mark becomes the field `cancelled` of its event. */
  entries(): InboxEntry[] {
    const entries = new Map<number, InboxEntry>();
    for (const [seq, { payload }] of this.sorted()) {
      if ('event' in payload) entries.set(seq, { seq, event: payload.event });
      const entry = 'cancels' in payload ? entries.get(payload.cancels) : undefined;
      // The event is absent if it was handled meanwhile.
      if (entry && 'cancels' in payload) entries.set(entry.seq, { ...entry, cancelled: payload.reason });
    }
    return [...entries.values()];
  }

  /** Returns the damage to the lines above this number and above `handled`. */
  problem(handled: number): { readonly path: string; readonly problem: string } | undefined {
    for (const [seq, path] of this.damaged)
      if (seq > handled) return { path, problem: `line ${seq} of this instance is damaged` };
    for (let seq = Math.max(handled, this.handled) + 1; seq <= this.written; seq += 1)
      if (!this.lines.has(seq)) return { path: '', problem: `line ${seq} of this instance is missing` };
    return undefined;
  }
}
