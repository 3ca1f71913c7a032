/**
 * Reads everything of one instance on files, in the form in which a store elsewhere keeps it: the same frames, line by
 * line, and a checkpoint. The checkpoint includes everything but an interrupted turn, because a long state has no text in
 * the log, and the checkpoint has the texts of all states.
 */
import type { JsonValue } from '@goondan/types';
import { encodeBase } from '../../messages/message-text.ts';
import type { Spending } from '../../usage/spending.ts';
import { readHandled } from '../../workspace/inbox/handled-ids.ts';
import { decodeStart } from '../../workspace/history/history-start.ts';
import type { StoredInstance } from '../../workspace/layout/instance-paths.ts';
import { corruptStore } from '../../workspace/lines/corrupt-store.ts';
import { readStates } from '../../workspace/records/extension-files.ts';
import { FinishedTurns } from '../../workspace/records/finished-turns.ts';
import type { CommittedTurn } from '../../workspace/records/gather-turns.ts';
import { finishedTurns, LogState } from '../../workspace/records/log-state.ts';
import { foldBase, readBaseFile } from '../../workspace/records/read-base.ts';
import { readFinished } from '../../workspace/records/read-finished.ts';
import { corruptLog, type ReadLog, readLog } from '../../workspace/records/read-log.ts';
import { encodeCheckpoint } from '../log/log-checkpoint.ts';
import { type ExportedLine, readExportedLines } from './read-lines.ts';

/** The log of an instance, with its counts. */
export interface ExportedLog {
  readonly createdAt: string;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
  readonly version: number;
  readonly messages: number;
  readonly deadLetters: number;
  /** Every event up to this number is handled. */
  readonly handled: number;
  /** The numbers above `handled` of events that turns have taken. */
  readonly taken: readonly number[];
  readonly handledIds: readonly string[];
  /** The number of the event whose turn was interrupted. */
  readonly begun?: number;
  /** The number of the last record or commit. */
  readonly last: number;
  readonly checkpoint: { readonly seq: number; readonly text: string };
  /** The lines of the base at the checkpoint. */
  readonly base: string;
  /** The start of the history, if it does not begin with the first turn. */
  readonly historyStart?: string;
  /** The answers that nobody has fetched: turn ids and replies. */
  readonly answers: readonly { readonly turnId: string; readonly reply: JsonValue }[];
  /** The model calls of all committed turns. */
  readonly spent: readonly Spending[];
  /** Yields the lines up to the checkpoint, oldest first. */
  archived(): AsyncIterable<ExportedLine>;
  /** The lines of an interrupted turn. */
  readonly frames: readonly ExportedLine[];
}

/** Reads the log. Returns `undefined` when the instance has none. **Errors** — `E_STORE_CORRUPT`, and those of reading. */
export async function exportLog(stored: StoredInstance): Promise<ExportedLog | undefined> {
  const found = await readLog(stored);
  if (found === undefined) return undefined;
  if (found.damage) throw await corruptLog(stored, found.damage);
  const { metadata, state } = found;
  const before = await readBefore(stored, found);
  const checkpoint = { seq: before.state.seq, text: await textOf(stored, found, before) };
  const historyStart = await readHistoryStart(stored);
  const { ids: handledIds } = await readHandled(stored);
  return {
    createdAt: metadata.createdAt,
    updatedAt: state.updatedAt,
    version: state.version,
    messages: state.messages,
    deadLetters: state.letters.size,
    handled: state.inbox,
    taken: state.taken,
    handledIds,
    ...(state.open.input !== undefined && { begun: state.open.input }),
    last: state.seq,
    checkpoint,
    base: await baseOf(stored, found, before.turns),
    ...(historyStart !== undefined && { historyStart }),
    answers: state.answerEntries.map(({ key: turnId, value: reply }) => ({ turnId, reply })),
    spent: state.spent.list(),
    async *archived() {
      for await (const line of readExportedLines(stored)) if (line.last <= checkpoint.seq) yield line;
    },
    frames: before.frames,
  };
}

/** The state before the interrupted turn, the turns since the checkpoint on disk, and the lines of the interrupted turn. */
interface Before {
  readonly state: LogState;
  readonly turns: readonly CommittedTurn[];
  readonly frames: readonly ExportedLine[];
}

async function readBefore(stored: StoredInstance, { metadata, state, turns }: ReadLog): Promise<Before> {
  const first = state.open.log[0]?.seq;
  if (first === undefined) return { state, turns, frames: [] };
  const before = new LogState(metadata.checkpoint);
  const frames: ExportedLine[] = [];
  for await (const line of readExportedLines(stored)) {
    if (line.last <= metadata.checkpoint.seq) continue;
    if (line.seq < first) before.apply(line.frame);
    else frames.push(line);
  }
  return { state: before, turns, frames };
}

/** Makes the text of the checkpoint. States are committed only between turns, so an interrupted turn has changed none. */
async function textOf(
  stored: StoredInstance,
  { metadata: { createdAt, checkpoint }, turns }: ReadLog,
  { state }: Before,
): Promise<string> {
  const finished = new FinishedTurns(stored.limits, await readFinished(stored, checkpoint));
  for (const turn of turns) for (const ended of finishedTurns(turn)) finished.add(...ended);
  return encodeCheckpoint({ createdAt, state, texts: await readTexts(stored, state), finished });
}

/** Returns the texts of all states, by extension name. */
async function readTexts(stored: StoredInstance, { states }: LogState): Promise<ReadonlyMap<string, string>> {
  const { texts, lost } = await readStates(stored, states);
  const [name] = lost;
  if (name !== undefined) throw await corruptStore(stored, stored.paths.extension(name), 'its checksum does not match');
  return texts;
}

async function baseOf(stored: StoredInstance, { metadata }: ReadLog, turns: readonly CommittedTurn[]): Promise<string> {
  const base = await readBaseFile(stored, metadata.checkpoint.base);
  if (!base) throw await corruptStore(stored, stored.paths.base, 'it does not match the checkpoint');
  return encodeBase(foldBase(base, turns));
}

async function readHistoryStart(stored: StoredInstance): Promise<string | undefined> {
  const path = stored.paths.historyStart;
  const bytes = await stored.fs.read(path);
  if (bytes === undefined) return undefined;
  const start = decodeStart(bytes);
  if (typeof start === 'string') throw await corruptStore(stored, path, start);
  return Buffer.from(bytes).toString('utf8');
}
