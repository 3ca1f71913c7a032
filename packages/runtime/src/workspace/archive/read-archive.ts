/** Reads the kept history of an instance, turn by turn, across the segments of its log. */
import type { MessageEvent, TurnResult } from '@goondan/types';
import type { EventAuthor } from '../../agent/conversation/conversation-store.ts';
import { defined } from '../../json/defined.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { type CommittedTurn, GatheredTurn } from '../records/gather-turns.ts';
import { resultOf } from '../records/log-state.ts';
import type { EventOrigin, LoggedRecord } from '../records/logged-record.ts';
import type { ForkOrigin } from '../records/metadata.ts';
import { readFrames } from '../records/read-frames.ts';
import { listSegments } from '../records/segments.ts';
import { voidedEvents } from '../records/voided-events.ts';
import type { JsonValue } from '@goondan/types';

export interface ArchivedTurn {
  readonly turnId: string;
  /** The number of the commit, from 1. */
  readonly version: number;
  readonly committedAt: Date;
  readonly events: readonly ArchivedEvent[];
  /** `reset` marks a reset of the conversation, and `fork` the start of a forked conversation; neither is a turn. */
  readonly result: TurnResult | 'reset' | 'fork';
  /** Present when the result is `fork`. */
  readonly fork?: ForkOrigin;
  /** The changes to the states of extensions; absent when there are none. */
  readonly states?: ChangedStates;
}

/** The changes a turn made to the states of extensions, by extension name. */
export interface ChangedStates {
  readonly set: Readonly<Record<string, JsonValue>>;
  /** Names of the extensions whose new state is too long for the log. */
  readonly long: readonly string[];
  readonly removed: readonly string[];
}

export interface ArchivedEvent {
  readonly seq: number;
  readonly at: Date;
  readonly stepId?: string;
  readonly author: EventAuthor;
  readonly event: MessageEvent;
  /** False for an undone event: its step was dropped, or a crash interrupted its step. */
  readonly counts: boolean;
  /** The original event of a message that was copied by a fork. */
  readonly origin?: EventOrigin;
}

/**
 * Yields the turns, oldest first. A turn that is not committed is not included.
 *
 * **Errors** — `E_STORE_CORRUPT` at the first damaged or missing turn, after all turns before it were yielded.
 */
export async function* readArchive(stored: StoredInstance): AsyncGenerator<ArchivedTurn> {
  let next: number | undefined;
  for await (const { path, isCurrent, bytes } of segmentBytes(stored)) {
    const reader = new SegmentReader(stored, path, isCurrent);
    yield* reader.read(bytes, next);
    ({ next } = reader);
  }
}

/** Reads the turns of one segment; a turn never spans two segments. */
export class SegmentReader {
  /** The number after the last frame, once the segment is read. */
  next: number | undefined;

  constructor(
    private readonly stored: StoredInstance,
    private readonly path: string,
    private readonly isCurrent: boolean,
  ) {}

  /** Yields the turns. `next`: the number of the first frame, if known. **Errors** — as `readArchive`. */
  async *read(bytes: Uint8Array, next?: number): AsyncGenerator<ArchivedTurn> {
    const read = readFrames(bytes, 0, next);
    const gathered = new GatheredTurn();
    for (const frame of read.frames) {
      const committed = gathered.add(frame);
      if (!committed) continue;
      const turn = archivedTurn(committed);
      if (!turn) throw await corruptStore(this.stored, this.path, `records are missing before number ${frame.seq}`);
      yield turn;
    }
    this.next = read.next;
    // A segment that has no frame yet may be empty. `readCommittedTurns` knows whether it must have frames.
    const isCut = this.isCurrent ? !read.hasRoom && bytes.length > 0 : read.torn;
    const problem = read.damage ?? (isCut ? 'its end is missing' : undefined);
    if (problem !== undefined) throw await corruptStore(this.stored, this.path, problem);
  }
}

/** Yields each segment once, oldest first, even if the current segment is renamed during the read. */
async function* segmentBytes(stored: StoredInstance) {
  const given = new Set<number>();
  const nextSegment = async () => {
    const left = (await listSegments(stored)).filter(({ number }) => !given.has(number));
    return left[0];
  };
  for (let segment = await nextSegment(); segment; segment = await nextSegment()) {
    const { path, number, isCurrent } = segment;
    const bytes = await stored.fs.read(path);
    // The current segment may have been renamed after it was listed. It then has another path.
    if (isCurrent && (await nextSegment())?.path !== path) continue;
    given.add(number);
    if (bytes) yield { path, isCurrent, bytes };
    if (isCurrent) return;
    // Segments are large and usually in the page cache, so reads do not yield to other work. This pause lets other work
    // run between segments.
    await new Promise((resolve) => void setImmediate(resolve));
  }
}

/** Makes the turn of the history. Returns `undefined` when its response message is missing. */
function archivedTurn(committed: CommittedTurn): ArchivedTurn | undefined {
  const { turnId, at, log, commit } = committed;
  const result = typeof commit.result === 'string' ? commit.result : resultOf(committed);
  if (result === undefined || commit.version === undefined) return undefined;
  const { version, fork, states } = commit;
  const voided = voidedEvents(log);
  const events = log.flatMap((logged) => archivedEvent(logged, !voided.has(logged)));
  const changed = states && { set: states.set, long: Object.keys(states.long), removed: states.removed };
  return { turnId, version, committedAt: new Date(at), events, result, ...defined({ fork, states: changed }) };
}

function archivedEvent({ seq, at, record, origin }: LoggedRecord, counts: boolean): ArchivedEvent[] {
  if (record.type !== 'message') return [];
  const { stepId, author, event } = record;
  return [defined({ seq, at: new Date(at), stepId, author, event, counts, origin })];
}
