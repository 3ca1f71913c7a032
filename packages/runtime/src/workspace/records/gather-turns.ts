/**
 * Gathers the records of a turn from frames, until a frame commits the turn.
 *
 * The frames of one turn follow each other. Frames without a turn may be between them. When a frame of another turn
 * comes, or a commit drops the turn, the records so far do not count any more.
 */
import type { CommitEntry, Frame, TurnNode } from './frame.ts';
import { type LoggedRecord, readRecord } from './logged-record.ts';
import { takenBy } from './taken-by.ts';
import { planAfter, type RecordContext, restoreRecords } from './short-record.ts';

/** A committed turn, reset or fork. */
export interface CommittedTurn {
  readonly turnId: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly log: readonly LoggedRecord[];
  readonly commit: CommitEntry;
}

export class GatheredTurn {
  turnId: string | undefined;
  /** The number of the turn's event in the inbox, if the event came through it. */
  input: number | undefined;
  /** The highest number of an event that the turn has taken; 0 when there is none. */
  lastTaken = 0;
  log: LoggedRecord[] = [];
  /** The nodes that ran the turn, each once; the last one is the newest. */
  nodes: readonly TurnNode[] = [];
  #plan: string | undefined;

  /** Returns the context of the next records, if they belong to this turn. */
  contextOf(turn: string): RecordContext {
    return { turn, plan: turn === this.turnId ? this.#plan : undefined };
  }

  /** Returns the last other node that ran the turn; `undefined` when only this one did. */
  lastNodeBut(own: TurnNode | undefined): TurnNode | undefined {
    return this.nodes.findLast((each) => !isSame(each, own));
  }

  /** Adds a frame. Returns the turn if the frame commits it. */
  add(frame: Frame): CommittedTurn | undefined {
    const { turn, at, seq, records = [], commit } = frame;
    if (commit?.drops !== undefined) this.clear();
    if (turn === undefined) return undefined;
    const restored = restoreRecords(records, this.contextOf(turn));
    const read = restored.map((record, index) => readRecord(record, seq + index, at));
    return this.addRecords(turn, at, read, commit, frame);
  }

  /** Like `add`, for records that are not stored yet. */
  addRecords(
    turnId: string,
    at: number,
    records: readonly LoggedRecord[],
    commit?: CommitEntry,
    { input, node }: Pick<Frame, 'input' | 'node'> = {},
  ): CommittedTurn | undefined {
    if (turnId !== this.turnId) this.clear();
    this.turnId = turnId;
    this.input ??= input;
    if (node) this.nodes = [...this.nodes.filter((each) => !isSame(each, node)), node];
    this.log.push(...records);
    this.lastTaken = Math.max(this.lastTaken, ...takenBy(records).map((taken) => taken.seq));
    this.#plan = planAfter(records, this.#plan);
    if (commit === undefined) return undefined;
    const { log } = this;
    this.clear();
    return { turnId, at, log, commit };
  }

  clear(): void {
    this.turnId = undefined;
    this.input = undefined;
    this.lastTaken = 0;
    this.log = [];
    this.nodes = [];
    this.#plan = undefined;
  }
}

/** Folders may be copies with the same id, so the name counts, too. */
function isSame(one: TurnNode, other: TurnNode | undefined): boolean {
  return one.machine === other?.machine && one.name === other.name;
}
