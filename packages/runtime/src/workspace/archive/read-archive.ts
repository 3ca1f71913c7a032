/** Reads the kept history of an instance, turn by turn, across the rotated files of its archive. */
import { defined } from '../../json/defined.ts';
import { reviveEvent } from '../../messages/message-text.ts';
import type { MessageEvent, TurnResult } from '@goondan/types';
import type { EventAuthor } from '../../agent/conversation/conversation-store.ts';
import type { EventOrigin, StoredEventLine } from '../records/logged-record.ts';
import type { ForkOrigin } from '../records/metadata.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { readLines, type StoredLine } from '../lines/read-lines.ts';
import { rotatedFiles } from '../lines/rotating-log.ts';
import type { StorePorts } from '../store-ports.ts';
import { type ChangedStates, type EndLine, readEndLine, reviveResult } from './archive-lines.ts';

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
 * Yields the turns, oldest first. A turn whose lines are still being written is not included.
 *
 * **Errors** — `E_STORE_CORRUPT` at the first damaged or missing turn, after all turns before it were yielded.
 */
export async function* readArchive(ports: StorePorts, path: string): AsyncGenerator<ArchivedTurn> {
  let before: number | undefined;
  for await (const { file, bytes } of archiveFiles(ports, path)) {
    for await (const turn of readArchiveFile(ports, file, bytes, before)) {
      yield turn;
      before = turn.version;
    }
  }
}

/**
 * Yields the turns of one file; a turn never spans two files. `before`: the version of the previous turn, if known.
 *
 * **Errors** — as `readArchive`.
 */
export async function* readArchiveFile(
  ports: StorePorts,
  file: string,
  bytes: Uint8Array,
  before?: number,
): AsyncGenerator<ArchivedTurn> {
  let version = before;
  let eventLines: StoredLine[] = [];
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

/** Yields each archive file once, oldest first, even if the current file is rotated during the read. */
async function* archiveFiles(
  { fs }: StorePorts,
  path: string,
): AsyncGenerator<{ readonly file: string; readonly bytes: Uint8Array }> {
  const given = new Set<string>();
  const nextOld = async () => (await rotatedFiles(fs, path)).find((file) => !given.has(file));
  for (;;) {
    const file = (await nextOld()) ?? path;
    const bytes = (await fs.read(file)) ?? new Uint8Array();
    // The current file may have been rotated after it was read. It may also have got more lines before the rotation.
    if (file === path && (await nextOld()) !== undefined) continue;
    yield { file, bytes };
    if (file === path) return;
    given.add(file);
    // Files are large and usually in the page cache, so reads do not yield to other work. This pause lets other work
    // run between files.
    await new Promise((resolve) => void setImmediate(resolve));
  }
}

/** Makes the turn from its lines. Returns `undefined` when lines or turns before `end` are missing. */
function readTurn(end: EndLine, eventLines: StoredLine[], before: number | undefined): ArchivedTurn | undefined {
  const result = reviveResult(end, eventLines);
  const isNext = before === undefined || end.version === before + 1;
  if (!result || !isNext || eventLines.length !== end.events) return undefined;
  const { turn: turnId, version, at, fork, states } = end;
  const events = eventLines.map(readEvent);
  return { turnId, version, committedAt: new Date(at), events, result, ...defined({ fork, states }) };
}

function readEvent({ fields }: StoredLine): ArchivedEvent {
  // Safe: archiveTexts made this line from a line of events.jsonl.
  const line = fields as unknown as StoredEventLine & { readonly void?: true };
  const { seq, at, step: stepId, author, event, origin } = line;
  const when = { seq, at: new Date(at), stepId };
  return defined({ ...when, author, event: reviveEvent(event), counts: !line.void, origin });
}
