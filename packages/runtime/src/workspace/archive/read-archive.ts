/** The whole history of an instance that is still kept, turn by turn, across the files it was put away in. */
import type { MessageEvent, TurnResult } from '@goondan/types';
import type { EventAuthor } from '../../agent/conversation/conversation-store.ts';
import { reviveEvent, type StoredEventLine } from '../journal/logged-record.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { readLines, type StoredLine } from '../lines/read-lines.ts';
import { rotatedFiles } from '../lines/rotating-log.ts';
import type { StorePorts } from '../store-ports.ts';
import { readEndLine, reviveResult, type EndLine } from './archive-lines.ts';

export interface ArchivedTurn {
  readonly turnId: string;
  /** Which commit of the instance it was, from 1. */
  readonly version: number;
  readonly committedAt: Date;
  readonly events: readonly ArchivedEvent[];
  /** `reset`: it was no turn, but the conversation was started anew. */
  readonly result: TurnResult | 'reset';
}

export interface ArchivedEvent {
  readonly seq: number;
  readonly at: Date;
  readonly stepId?: string;
  readonly author: EventAuthor;
  readonly event: MessageEvent;
  /** False for what was undone: a dropped step, or the part of a step that a crash cut off. */
  readonly counts: boolean;
}

/**
 * Oldest first. A turn that is being added right now is not seen yet.
 *
 * **Errors** — `E_STORE_CORRUPT` at the turn that is damaged or missing, after giving those before it.
 */
export async function* readArchive(ports: StorePorts, path: string): AsyncGenerator<ArchivedTurn> {
  let version: number | undefined;
  let eventLines: StoredLine[] = [];
  for await (const { file, bytes } of archiveFiles(ports, path)) {
    const { lines, damage } = readLines(bytes);
    for (const line of lines) {
      const end = readEndLine(line);
      if (!end) {
        eventLines.push(line);
        continue;
      }
      const turn = readTurn(end, eventLines, version);
      if (!turn) throw await corruptStore(ports, file, `lines are missing before number ${end.seq}`);
      yield turn;
      version = end.version;
      eventLines = [];
    }
    if (damage) throw await corruptStore(ports, file, damage);
  }
}

/** Oldest first, one at a time, and all of them although the one that is being written may be put away meanwhile. */
async function* archiveFiles(
  { fs }: StorePorts,
  path: string,
): AsyncGenerator<{ readonly file: string; readonly bytes: Uint8Array }> {
  const given = new Set<string>();
  const nextOld = async () => (await rotatedFiles(fs, path)).find((file) => !given.has(file));
  for (;;) {
    const file = (await nextOld()) ?? path;
    const bytes = (await fs.read(file)) ?? new Uint8Array();
    // What was read under this name may by now stand under another, with more in it.
    if (file === path && (await nextOld()) !== undefined) continue;
    yield { file, bytes };
    if (file === path) return;
    given.add(file);
  }
}

/** `undefined` when something before its end is missing. */
function readTurn(end: EndLine, eventLines: StoredLine[], before: number | undefined): ArchivedTurn | undefined {
  const result = reviveResult(end, eventLines);
  const isNext = before === undefined || end.version === before + 1;
  if (!result || !isNext || eventLines.length !== end.events) return undefined;
  const committedAt = new Date(end.at);
  return { turnId: end.turn, version: end.version, committedAt, events: eventLines.map(readEvent), result };
}

function readEvent({ fields }: StoredLine): ArchivedEvent {
  // Sealed by archiveTexts from a line of events.jsonl.
  const line = fields as unknown as StoredEventLine & { readonly void?: true };
  const step = line.step === undefined ? {} : { stepId: line.step };
  const { seq, author } = line;
  return { seq, at: new Date(line.at), ...step, author, event: reviveEvent(line.event), counts: !line.void };
}
