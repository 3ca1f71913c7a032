/**
 * The lines of `archive.jsonl`: of every committed turn its message events, as they stood in `events.jsonl` (with
 * `void` where they did not count), and then one line with how it ended and which states of extensions it changed. A
 * conversation that was started anew is there like a turn, with the result `reset`, and so is what a forked one was begun
 * with, with the result `fork`.
 */
import type { JsonObject, JsonValue, TurnResult } from '@goondan/types';
import { reviveMessage } from '../../messages/message-text.ts';
import type { LoggedRecord } from '../records/logged-record.ts';
import type { CommitRecord, CommittedTurn, ForkOrigin } from '../records/metadata.ts';
import { voidedEvents } from '../records/voided-events.ts';
import type { StoredLine } from '../lines/read-lines.ts';
import type { StoredMessage } from '../../messages/message-text.ts';

/**
 * A longer state is not archived, only that it changed: the results of the last turns are looked for at the end of the
 * archive, and must not be pushed out of it.
 */
const LONGEST_STATE = 64 * 1024;

/**
 * What a commit adds to the archive. `after`: lines up to that number are there already. `states`: what is committed, by
 * extension name.
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
  const end: EndLine = {
    seq: commit.base.seq,
    turn: id,
    at,
    version: commit.version,
    events,
    result,
    ...(fork && { fork }),
  };
  if (commit.base.seq > after) texts.push(`${JSON.stringify(end).slice(0, -1)}${stateFields(commit.turn, states)}}`);
  return texts;
}

/** Put in as the texts they are. */
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
  /** Which commit it was. */
  readonly version: number;
  /** How many lines of events come before. */
  readonly events: number;
  readonly result: CommittedTurn['result'];
  readonly fork?: ForkOrigin;
  /** Absent when none changed. */
  readonly states?: ChangedStates;
}

/** What a turn did to the states of extensions, by their names. */
export interface ChangedStates {
  readonly set: Readonly<Record<string, JsonValue>>;
  /** They changed too, into something longer than is archived. */
  readonly long: readonly string[];
  readonly removed: readonly string[];
}

export function readEndLine({ fields }: StoredLine): EndLine | undefined {
  // Sealed, and only archiveTexts writes `version`.
  return 'version' in fields ? (fields as unknown as EndLine) : undefined;
}

/** How a turn ended; or that it was none. */
export type ArchivedResult = TurnResult | 'reset' | 'fork';

/** `undefined` when the line that brought the response is not among them. */
export function reviveResult(end: EndLine, eventLines: readonly StoredLine[]): ArchivedResult | undefined {
  if (typeof end.result === 'string') return end.result;
  const { response, ...rest } = end.result;
  const result = { turnId: end.turn, ...rest };
  if (response === undefined) return result;
  if (typeof response === 'object') return { ...result, responseMessage: reviveMessage(response) };
  const line = eventLines.find(({ seq }) => seq === response);
  const event = line?.fields['event'] as JsonObject | undefined;
  // A number always names a line whose event brought a message: planCommit looked it up there.
  return event && { ...result, responseMessage: reviveMessage(event['message'] as unknown as StoredMessage) };
}
