/** Makes the frames of format 2 from the turns of format 1. Event numbers stay the same. */
import { type CommitEntry, encodeFrame, type SegmentHead } from '../records/frame.ts';
import { encodeRecord, type LoggedRecord } from '../records/logged-record.ts';
import type { LogLine, Turn } from './read-turns.ts';

export class SegmentWriter {
  readonly #frames: Uint8Array[] = [];
  #head: SegmentHead | undefined;

  /** `last`: the number of the last record or commit of the segments before. */
  constructor(
    head: SegmentHead,
    private last: number,
  ) {
    this.#head = head;
  }

  /** The number of the last record or commit. */
  get seq(): number {
    return this.last;
  }

  get bytes(): Uint8Array {
    return Buffer.concat(this.#frames);
  }

  /**
   * Writes the frame that a segment begins with, unless a turn has brought it. A frame with number 1 and nothing but a
   * head would begin a conversation whose log has all of its state.
   */
  begin(at: number): void {
    if (this.#head) this.#add({ seq: Math.max(2, this.last + 1), at }, [], 1);
  }

  /** Adds a turn: a frame for each row of events with successive numbers, and the commit in the last one. */
  addTurn(turn: Turn): void {
    const { turnId, at, seq } = turn;
    const commit = commitOf(turn);
    for (const row of rowsOf(turn.events)) {
      const first = row[0]?.seq ?? seq;
      const texts = row.map((event) => textOf(event, at));
      const isLast = first + row.length === seq;
      this.#add({ seq: first, turn: turnId, at, ...(isLast && { commit }) }, texts, row.length + (isLast ? 1 : 0));
    }
    if (this.last < seq) this.#add({ seq, turn: turnId, at, commit }, [], 1);
  }

  /** Adds the records of an interrupted turn. Their numbers follow the last one. */
  addInterrupted(log: readonly LogLine[]): void {
    const [first] = log;
    if (first?.turnId === undefined) return;
    const at = first.at;
    const texts = log.map((logged) => textOf(logged, at));
    this.#add({ seq: this.last + 1, turn: first.turnId, at }, texts, texts.length);
  }

  #add(
    frame: { seq: number; turn?: string; at: number; commit?: CommitEntry },
    texts: readonly string[],
    numbers: number,
  ): void {
    const skipped = frame.seq - this.last - 1;
    const head = this.#head;
    const full = { ...frame, durable: this.last, ...(skipped > 0 && { skipped }), ...(head && { head }) };
    this.#frames.push(encodeFrame(full, texts));
    this.#head = undefined;
    this.last = frame.seq + numbers - 1;
  }
}

function textOf({ record, at, origin, isVoid }: LoggedRecord, frameAt: number): string {
  if (record.type !== 'message') return encodeRecord(record);
  return encodeRecord(record, {
    ...(at !== frameAt && { at }),
    ...(origin && { origin }),
    ...(isVoid && { void: true }),
  });
}

function rowsOf(events: readonly LoggedRecord[]): LoggedRecord[][] {
  const rows: LoggedRecord[][] = [];
  for (const event of events) {
    const row = rows.at(-1);
    if (row && row.at(-1)?.seq === event.seq - 1) row.push(event);
    else rows.push([event]);
  }
  return rows;
}

function commitOf({ version, result, fork, states }: Turn): CommitEntry {
  return {
    version,
    result,
    ...(fork && { fork }),
    ...(states && { states: { ...states, long: marksOf(states.long) } }),
  };
}

/** The marks of long states before the checkpoint are not needed any more. */
function marksOf(names: readonly string[]): Readonly<Record<string, { readonly bytes: number; readonly crc: number }>> {
  return Object.fromEntries(names.map((name) => [name, { bytes: 0, crc: 0 }]));
}
