/**
 * Reads the turns of format 1: those of `archive.jsonl`, with one line for each message event and one for the ending, and
 * the records in `events.jsonl` and `turn.jsonl`, which belong to the last commit or to the running turn.
 */
import type { JsonObject, JsonValue } from '@goondan/types';
import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { readLines, type StoredLine } from '../lines/read-lines.ts';
import { rotatedFiles } from '../lines/rotating-log.ts';
import { type LoggedRecord, readRecord, type StoredMessageRecord } from '../records/logged-record.ts';
import type { ForkOrigin, StoredResult } from '../records/metadata.ts';
import { voidedEvents } from '../records/voided-events.ts';
import type { CommitRecord, CommittedTurn } from './metadata.ts';
import { archivePath, turnPath } from './paths.ts';

/** A committed turn with its message events. Its other records were not archived. */
export interface Turn {
  readonly turnId: string;
  readonly at: number;
  readonly version: number;
  /** The number of the ending. */
  readonly seq: number;
  readonly events: readonly LoggedRecord[];
  readonly result: StoredResult | 'reset' | 'fork';
  readonly fork?: ForkOrigin;
  readonly states?: ChangedStates;
}

interface ChangedStates {
  readonly set: Readonly<Record<string, JsonValue>>;
  readonly long: readonly string[];
  readonly removed: readonly string[];
}

/** A record of `events.jsonl` or `turn.jsonl`. `with`: the number of the first record of the same append. */
export type LogLine = LoggedRecord & { readonly turnId: string | undefined; readonly with: number };

type EventLine = Omit<StoredMessageRecord, 'type' | 'at'> & { with?: number; turn: string; at: number };

/** The maximum length of an archived state, in characters. */
const LONGEST_STATE = 64 * 1024;

/** Lists the archive files, oldest first. */
export async function archiveFiles(stored: StoredInstance): Promise<string[]> {
  const path = archivePath(stored);
  return [...(await rotatedFiles(stored.fs, path)), path];
}

/** Reads the turns of an archive file. A turn never spans two files. **Errors** — `E_STORE_CORRUPT`. */
export async function readArchiveFile(stored: StoredInstance, file: string): Promise<Turn[]> {
  const { lines, damage } = readLines((await stored.fs.read(file)) ?? new Uint8Array());
  if (damage !== undefined) throw await corruptStore(stored, file, damage);
  return turnsOf(lines);
}

function turnsOf(lines: readonly StoredLine[]): Turn[] {
  const turns: Turn[] = [];
  let events: StoredLine[] = [];
  for (const line of lines) {
    if (!('version' in line.fields)) {
      events.push(line);
      continue;
    }
    // Safe: the checksum was verified, and only the ending of a turn has a version.
    const { turn: turnId, events: _, ...end } = line.fields as unknown as Turn & { readonly turn: string };
    turns.push({ ...end, turnId, events: events.map(readEvent) });
    events = [];
  }
  return turns;
}

function readEvent({ seq, fields }: StoredLine): LoggedRecord {
  // Safe: the checksum was verified; the other lines of an archive are message events.
  const { with: _, turn: __, at, ...event } = fields as unknown as EventLine;
  return readRecord({ type: 'message', ...event }, seq, at);
}

/** Reads the records in `events.jsonl` and `turn.jsonl`, in order. **Errors** — `E_STORE_CORRUPT`. */
export async function readLogFiles(stored: StoredInstance): Promise<LogLine[]> {
  const messages = (await linesOf(stored, stored.paths.events)).map(messageLine);
  const others = (await linesOf(stored, turnPath(stored))).map(otherLine);
  return [...messages, ...others].toSorted((a, b) => a.seq - b.seq);
}

async function linesOf(stored: StoredInstance, path: string): Promise<readonly StoredLine[]> {
  const bytes = await stored.fs.read(path);
  if (!bytes) throw await corruptStore(stored, path, 'it is missing');
  const { lines, damage } = readLines(bytes);
  if (damage !== undefined) throw await corruptStore(stored, path, damage);
  return lines;
}

function messageLine(line: StoredLine): LogLine {
  // Safe: the checksum was verified, and every line of events.jsonl is a message event.
  const { with: first = line.seq, turn: turnId } = line.fields as unknown as EventLine;
  return { ...readEvent(line), turnId, with: first };
}

function otherLine({ fields }: StoredLine): LogLine {
  // Safe: the checksum was verified; without these fields, a line of turn.jsonl is the record.
  const {
    seq,
    turn,
    with: first = seq,
    ...record
  } = fields as JsonObject & { seq: number; turn?: string; with?: number };
  return { seq, at: 0, turnId: turn, with: first, record: record as unknown as TurnRecord };
}

/**
 * Makes the last committed turn from its records, when the archive does not have it yet. Returns `undefined` when records
 * are missing. `texts`: the committed states by extension name.
 */
export function lastTurn(
  { version, turn, base }: CommitRecord,
  log: readonly LogLine[],
  texts: ReadonlyMap<string, string>,
): Turn | undefined {
  if (!turn) return undefined;
  const records = recordsOf(turn, base.seq, log);
  if (records.length !== base.seq - turn.after - 1) return undefined;
  const voided = voidedEvents(records);
  const events = records
    .filter(({ record }) => record.type === 'message')
    .map((logged) => (voided.has(logged) ? { ...logged, isVoid: true as const } : logged));
  const { id: turnId, at, result, fork } = turn;
  const states = turn.states && changedStates(turn.states, texts);
  return { turnId, at, version, seq: base.seq, events, result, ...(fork && { fork }), ...(states && { states }) };
}

/** Selects the records of the last committed turn. The only record of a reset is in no file. */
export function recordsOf(turn: CommittedTurn, last: number, log: readonly LogLine[]): readonly LogLine[] {
  const { id: turnId, at, after, result } = turn;
  if (result !== 'reset') return log.filter(({ seq }) => seq > after && seq < last);
  const record = { type: 'message', event: { type: 'truncate' }, author: { kind: 'runtime' } } as const;
  return [{ seq: after + 1, at, turnId, with: after + 1, record }];
}

function changedStates(
  { changed, removed }: NonNullable<CommittedTurn['states']>,
  texts: ReadonlyMap<string, string>,
): ChangedStates {
  const isLong = (name: string) => (texts.get(name)?.length ?? 0) > LONGEST_STATE;
  const set = changed.filter((name) => !isLong(name));
  const entries = set.map((name) => [name, JSON.parse(texts.get(name) ?? 'null') as JsonValue] as const);
  return { set: Object.fromEntries(entries), long: changed.filter(isLong), removed };
}

/**
 * Returns the records of the interrupted turn. Records of one append may be in two files, and a crash may have kept only
 * one part; everything from the first missing record on is left out. Returns a text when an acknowledged record is missing.
 */
export function interruptedTurn(
  { base, discarded }: CommitRecord,
  log: readonly LogLine[],
): readonly LogLine[] | string {
  const after = discarded ?? base.seq;
  const records = log.filter(({ seq }) => seq > after);
  const gap = records.findIndex(({ seq }, index) => seq !== after + 1 + index);
  const found = gap === -1 ? records : records.slice(0, gap);
  const [first] = found;
  if (first && first.turnId === undefined) return 'its first record names no turn';
  if (found.some(({ turnId }) => turnId !== undefined && turnId !== first?.turnId))
    return 'it has records of two turns';
  const missing = after + 1 + gap;
  const isLost = gap !== -1 && records.slice(gap).some((record) => record.with > missing || record.seq < missing);
  return isLost ? `record ${missing} is missing` : found;
}
