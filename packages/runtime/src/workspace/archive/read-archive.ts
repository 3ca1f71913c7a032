/** Reads the kept history of an instance, turn by turn, across the segments of its log. */
import type { MessageEvent, TurnResult } from '@goondan/types';
import type { EventAuthor, TakenInput } from '../../agent/conversation/conversation-store.ts';
import { defined } from '../../json/defined.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { type CommittedTurn, GatheredTurn } from '../records/gather-turns.ts';
import { resultOf } from '../records/log-state.ts';
import type { EventOrigin, LoggedRecord } from '../records/logged-record.ts';
import type { ForkOrigin } from '../records/metadata.ts';
import { readFrames, type ReadFrames } from '../records/read-frames.ts';
import { listSegments } from '../records/segments.ts';
import { voidedEvents } from '../records/voided-events.ts';
import type { JsonValue } from '@goondan/types';

const ATTEMPTS = 5;

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
  /** The input that the event appended, if the turn took it from another event. */
  readonly took?: TakenInput;
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
  for await (const segment of readSegments(stored)) yield* turnsOf(stored, segment);
}

interface ReadSegment {
  readonly path: string;
  readonly isCurrent: boolean;
  readonly read: ReadFrames;
}

/** Yields the turns of one segment that is full. **Errors** — as `readArchive`. */
export async function* readFullSegment(stored: StoredInstance, path: string): AsyncGenerator<ArchivedTurn> {
  const bytes = (await stored.fs.read(path)) ?? new Uint8Array();
  yield* turnsOf(stored, { path, isCurrent: false, read: readFrames(bytes) });
}

/** Yields the turns of a segment; a turn never spans two segments. */
async function* turnsOf(stored: StoredInstance, segment: ReadSegment): AsyncGenerator<ArchivedTurn> {
  const { path, read } = segment;
  const gathered = new GatheredTurn();
  for (const frame of read.frames) {
    const committed = gathered.add(frame);
    if (!committed) continue;
    const turn = archivedTurn(committed);
    if (!turn) throw await corruptStore(stored, path, `records are missing before number ${frame.seq}`);
    yield turn;
  }
  const problem = problemOf(segment);
  if (problem !== undefined) throw await corruptStore(stored, path, problem);
}

function problemOf({ isCurrent, read }: ReadSegment): string | undefined {
  // A segment that has no frame yet may be empty. `readCommittedTurns` knows whether it must have frames.
  const isCut = isCurrent ? !read.hasRoom && read.end > 0 : read.torn;
  return read.damage ?? (isCut ? 'its end is missing' : undefined);
}

/** Yields each segment once, oldest first, even if the owner writes or renames the current segment during the read. */
async function* readSegments(stored: StoredInstance): AsyncGenerator<ReadSegment> {
  const given = new Set<number>();
  const nextSegment = async () => {
    const left = (await listSegments(stored)).filter(({ number }) => !given.has(number));
    return left[0];
  };
  let next: number | undefined;
  let attempt = 1;
  for (let segment = await nextSegment(); segment; segment = await nextSegment()) {
    const { path, number, isCurrent } = segment;
    const bytes = await stored.fs.read(path);
    // The current segment may have been renamed after it was listed. It then has another path.
    if (isCurrent && (await nextSegment())?.path !== path) continue;
    const found = bytes && { path, isCurrent, read: readFrames(bytes, 0, next) };
    // A read that overlaps with a write may show the end of a frame without its beginning.
    if (isCurrent && found && problemOf(found) !== undefined && attempt < ATTEMPTS) {
      attempt += 1;
      continue;
    }
    given.add(number);
    if (found) yield found;
    next = found?.read.next ?? next;
    if (isCurrent) return;
    // Segments are large and usually in the page cache, so reads do not yield to other work. This pause lets other work
    // run between segments.
    await new Promise((resolve) => void setImmediate(resolve));
  }
}

/** A turn that is not committed yet: it runs, it waits, or a crash interrupted it. */
export type OpenArchivedTurn = Pick<ArchivedTurn, 'turnId' | 'events'>;

/** Makes the open turn of gathered records. Returns `undefined` when no turn is open. */
export function openArchivedTurn({ turnId, log }: Pick<GatheredTurn, 'turnId' | 'log'>): OpenArchivedTurn | undefined {
  return turnId === undefined ? undefined : { turnId, events: archivedEvents(log) };
}

/** Makes the turn of the history. Returns `undefined` when its response message is missing. */
export function archivedTurn(committed: CommittedTurn): ArchivedTurn | undefined {
  const { turnId, at, log, commit } = committed;
  const result = typeof commit.result === 'string' ? commit.result : resultOf(committed);
  if (result === undefined || commit.version === undefined) return undefined;
  const { version, fork, states } = commit;
  const events = archivedEvents(log);
  const changed = states && { set: states.set, long: Object.keys(states.long), removed: states.removed };
  return { turnId, version, committedAt: new Date(at), events, result, ...defined({ fork, states: changed }) };
}

function archivedEvents(log: readonly LoggedRecord[]): ArchivedEvent[] {
  const voided = voidedEvents(log);
  return log.flatMap((logged) => archivedEvent(logged, !voided.has(logged)));
}

function archivedEvent({ seq, at, record, origin }: LoggedRecord, counts: boolean): ArchivedEvent[] {
  if (record.type !== 'message') return [];
  const { stepId, author, event, took } = record;
  return [defined({ seq, at: new Date(at), stepId, author, event, took, counts, origin })];
}
