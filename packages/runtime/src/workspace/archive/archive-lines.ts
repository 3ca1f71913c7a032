/**
 * The lines of `archive.jsonl`: of every committed turn its message events, as they stood in `events.jsonl` (with
 * `void` where they did not count), and then one line with how it ended. A conversation that was started anew is there
 * like a turn, with the result `reset`.
 */
import type { JsonObject, TurnResult } from '@goondan/types';
import { reviveMessage } from '../journal/message-text.ts';
import type { LoggedRecord } from '../journal/logged-record.ts';
import type { CommitRecord, StoredResult } from '../journal/metadata.ts';
import { voidedEvents } from '../journal/voided-events.ts';
import type { StoredLine } from '../lines/read-lines.ts';
import type { StoredMessage } from '../journal/message-text.ts';

/** What a commit adds to the archive. `after`: lines up to that number are there already. */
export function archiveTexts(commit: CommitRecord, log: readonly LoggedRecord[], after: number): string[] {
  if (!commit.turn) return [];
  const voided = voidedEvents(log);
  const texts: string[] = [];
  for (const logged of log) {
    if (logged.record.type !== 'message' || logged.seq <= after) continue;
    texts.push(voided.has(logged) ? `${logged.text.slice(0, -1)},"void":true}` : logged.text);
  }
  const { id, at, events, result } = commit.turn;
  const end: EndLine = { seq: commit.base.seq, turn: id, at, version: commit.version, events, result };
  if (commit.base.seq > after) texts.push(JSON.stringify(end));
  return texts;
}

export interface EndLine {
  readonly seq: number;
  readonly turn: string;
  readonly at: number;
  /** Which commit it was. */
  readonly version: number;
  /** How many lines of events come before. */
  readonly events: number;
  readonly result: StoredResult | 'reset';
}

export function readEndLine({ fields }: StoredLine): EndLine | undefined {
  // Sealed, and only archiveTexts writes `version`.
  return 'version' in fields ? (fields as unknown as EndLine) : undefined;
}

/** `undefined` when the line that brought the response is not among them. */
export function reviveResult(end: EndLine, eventLines: readonly StoredLine[]): TurnResult | 'reset' | undefined {
  if (end.result === 'reset') return 'reset';
  const { response, ...rest } = end.result;
  const result = { turnId: end.turn, ...rest };
  if (response === undefined) return result;
  if (typeof response === 'object') return { ...result, responseMessage: reviveMessage(response) };
  const line = eventLines.find(({ seq }) => seq === response);
  const event = line?.fields['event'] as JsonObject | undefined;
  // A number always names a line whose event brought a message: planCommit looked it up there.
  return event && { ...result, responseMessage: reviveMessage(event['message'] as unknown as StoredMessage) };
}
