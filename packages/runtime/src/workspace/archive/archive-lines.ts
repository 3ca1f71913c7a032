/**
 * The lines of `archive.jsonl`. For each committed turn, the archive has its message events as they were in
 * `events.jsonl` (undone events are marked `void`), and then one line with the turn's result and the changed states of
 * extensions. A reset is stored like a turn, with the result `reset`. The start of a forked conversation is stored like
 * a turn, with the result `fork`.
 */
import type { JsonObject, JsonValue, TurnResult } from '@goondan/types';
import { reviveMessage, type StoredMessage } from '../../messages/message-text.ts';
import type { LoggedRecord } from '../records/logged-record.ts';
import type { CommitRecord, CommittedTurn, ForkOrigin } from '../records/metadata.ts';
import { voidedEvents } from '../records/voided-events.ts';
import type { StoredLine } from '../lines/read-lines.ts';

/**
 * The maximum length of an archived state, in characters. For a longer state, the archive only notes that it changed.
 * Otherwise long states would fill the end of the archive, from which the results of the last turns are read.
 */
const LONGEST_STATE = 64 * 1024;

/**
 * Returns the lines that a commit adds to the archive. `after`: lines up to this number are already in the archive.
 * `states`: the committed states by extension name.
 */
export function archiveTexts(
  commit: CommitRecord,
  log: readonly LoggedRecord[],
  after: number,
  states: ReadonlyMap<string, string>,
): string[] {
  if (!commit.turn) return [];
  const voided = voidedEvents(log);
  const texts: string[] = [];
  for (const logged of log) {
    if (logged.record.type !== 'message' || logged.seq <= after) continue;
    texts.push(voided.has(logged) ? `${logged.text.slice(0, -1)},"void":true}` : logged.text);
  }
  const { id, at, events, result, fork } = commit.turn;
  // If `fork` is undefined, `JSON.stringify` leaves it out.
  const end = { seq: commit.base.seq, turn: id, at, version: commit.version, events, result, fork };
  if (commit.base.seq > after) texts.push(`${JSON.stringify(end).slice(0, -1)}${stateFields(commit.turn, states)}}`);
  return texts;
}

/** Inserts the states as JSON text, without parsing them. */
function stateFields({ states: names }: CommittedTurn, texts: ReadonlyMap<string, string>): string {
  if (!names) return '';
  const isLong = (name: string) => (texts.get(name)?.length ?? 0) > LONGEST_STATE;
  const set = names.changed.filter((name) => !isLong(name));
  const fields = set.map((name) => `${JSON.stringify(name)}:${texts.get(name) ?? 'null'}`);
  const others = JSON.stringify({ long: names.changed.filter(isLong), removed: names.removed });
  return `,"states":{"set":{${fields.join(',')}},${others.slice(1)}`;
}

export interface EndLine {
  readonly seq: number;
  readonly turn: string;
  readonly at: number;
  /** The number of the commit. */
  readonly version: number;
  /** The number of this turn's event lines, which precede this line. */
  readonly events: number;
  readonly result: CommittedTurn['result'];
  readonly fork?: ForkOrigin;
  /** The changes to the states of extensions. Absent when no state changed. */
  readonly states?: ChangedStates;
}

/** The changes a turn made to the states of extensions, by extension name. */
export interface ChangedStates {
  readonly set: Readonly<Record<string, JsonValue>>;
  /** Names of the extensions whose new state is too long for the archive. */
  readonly long: readonly string[];
  readonly removed: readonly string[];
}

export function readEndLine({ fields }: StoredLine): EndLine | undefined {
  // Safe: the checksum was verified, and only archiveTexts writes `version`.
  return 'version' in fields ? (fields as unknown as EndLine) : undefined;
}

/**
 * Returns the result of a turn, or the kind of a commit that was not a turn. Returns `undefined` when the response
 * message is not in `eventLines`.
 */
export function reviveResult(
  end: EndLine,
  eventLines: readonly StoredLine[],
): TurnResult | 'reset' | 'fork' | undefined {
  if (typeof end.result === 'string') return end.result;
  const { response, ...rest } = end.result;
  const result = { turnId: end.turn, ...rest };
  if (response === undefined) return result;
  if (typeof response === 'object') return { ...result, responseMessage: reviveMessage(response) };
  const line = eventLines.find(({ seq }) => seq === response);
  const event = line?.fields['event'] as JsonObject | undefined;
  // Safe: planCommit took the number from a line whose event has a message.
  return event && { ...result, responseMessage: reviveMessage(event['message'] as unknown as StoredMessage) };
}
