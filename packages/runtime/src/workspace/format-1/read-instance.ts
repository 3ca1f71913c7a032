/**
 * Reads an instance of format 1 as its recovery would leave it: with the last commit in the base, the archive and the
 * states, even if a crash interrupted them. It changes nothing.
 */
import type { JsonValue } from '@goondan/types';
import { readStart } from '../history/history-start.ts';
import { encodeMessage, reviveMessage } from '../../messages/message-text.ts';
import { nextOf, type StoredInstance } from '../layout/instance-paths.ts';
import { checksum } from '../lines/checksum.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { type QueueEntry, readQueueFile } from '../lines/durable-queue.ts';
import { readStates } from '../records/extension-files.ts';
import { messageOf, resultOf } from '../records/log-state.ts';
import { matches } from '../records/metadata.ts';
import { encodeReply } from '../records/reply.ts';
import { type CommitRecord, decodeFormat1, type Metadata } from './metadata.ts';
import { archivePath, deadLettersPath, outboxPath } from './paths.ts';
import {
  archiveFiles,
  interruptedTurn,
  lastTurn,
  type LogLine,
  readArchiveFile,
  readLogFiles,
  recordsOf,
  type Turn,
} from './read-turns.ts';

export interface OldInstance {
  readonly metadata: Metadata;
  /** The archive files, oldest first. Their turns are read one file after the other, because they may be large. */
  readonly files: readonly string[];
  /** The number of the first archived event. */
  readonly firstSeq: number;
  /** The last commit, if the archive does not have it yet. */
  readonly unarchived: Turn | undefined;
  readonly interrupted: readonly LogLine[];
  readonly base: Uint8Array;
  /** The states by extension name. */
  readonly texts: ReadonlyMap<string, string>;
  readonly answers: readonly QueueEntry[];
  readonly answersRemoved: readonly string[];
  readonly letters: readonly QueueEntry[];
}

/**
 * Reads the instance. Returns `undefined` when it is not in format 1. **Errors** — `E_STORE_CORRUPT`; those of the disk.
 */
export async function readOldInstance(stored: StoredInstance): Promise<OldInstance | undefined> {
  const { fs, paths } = stored;
  const bytes = await fs.read(paths.metadata);
  const metadata = bytes && decodeFormat1(bytes);
  if (!bytes || metadata === 'other') return undefined;
  if (!metadata) throw await corruptStore(stored, paths.metadata, 'its checksum does not match');
  const { commit } = metadata;
  const log = await readLogFiles(stored);
  const { texts, lost } = await readStates(stored, new Map(Object.entries(commit.extensions)));
  const [lostName] = lost;
  if (lostName !== undefined)
    throw await corruptStore(stored, paths.extension(lostName), 'its checksum does not match');
  const files = await archiveFiles(stored);
  const archived = await checkArchive(stored, files);
  const isBehind = archived.version < commit.version;
  const unarchived = isBehind ? lastTurn(commit, log, texts) : undefined;
  if (archived.version + (unarchived ? 1 : 0) !== commit.version)
    throw await corruptStore(stored, archivePath(stored), 'its last turns are missing');
  const interrupted = interruptedTurn(commit, log);
  if (typeof interrupted === 'string') throw await corruptStore(stored, paths.events, interrupted);
  const outbox = await readQueueFile(stored, outboxPath(stored));
  const letters = await readQueueFile(stored, deadLettersPath(stored));
  return {
    metadata,
    files,
    firstSeq: archived.firstSeq ?? firstSeqOf(unarchived) ?? commit.base.seq + 1,
    unarchived,
    interrupted,
    base: await readBase(stored, commit, log),
    texts,
    answers: [...outbox.entries, ...answerOf(commit, unarchived ?? archived.last, outbox)],
    answersRemoved: outbox.removed,
    letters: letters.entries,
  };
}

/** Checks that no archived turn is missing, before anything is written. **Errors** — `E_STORE_CORRUPT`. */
async function checkArchive(stored: StoredInstance, files: readonly string[]) {
  let { version } = await readStart(stored, stored.paths.historyStart);
  let firstSeq: number | undefined;
  let last: Turn | undefined;
  for (const file of files) {
    for (const turn of await readArchiveFile(stored, file)) {
      // The first file may have turns that the start of the history has, too.
      if (turn.version > version + 1 || (last && turn.version !== version + 1))
        throw await corruptStore(stored, file, `lines are missing before number ${turn.seq}`);
      ({ version } = turn);
      firstSeq ??= firstSeqOf(turn);
      last = turn;
    }
  }
  return { version, firstSeq, last };
}

function firstSeqOf(turn: Turn | undefined): number | undefined {
  return turn?.events[0]?.seq ?? turn?.seq;
}

/** Returns the answer of the last commit, if the outbox never had it. */
function answerOf(
  { turn }: CommitRecord,
  last: Turn | undefined,
  { entries, removed }: Awaited<ReturnType<typeof readQueueFile>>,
): QueueEntry[] {
  if (!turn?.replyTo || last?.turnId !== turn.id) return [];
  const result = resultOf({ turnId: turn.id, at: turn.at, log: last.events, commit: { result: last.result } });
  const isKnown = removed.includes(turn.id) || entries.some(({ key }) => key === turn.id);
  return result && !isKnown
    ? [{ key: turn.id, value: encodeReply({ replyTo: turn.replyTo, result }) satisfies JsonValue }]
    : [];
}

/** Reads the base, and finishes the last commit in it. **Errors** — `E_STORE_CORRUPT`. */
async function readBase(stored: StoredInstance, commit: CommitRecord, log: readonly LogLine[]): Promise<Uint8Array> {
  const { fs, paths } = stored;
  const base = await fs.read(paths.base);
  if (!base) throw await corruptStore(stored, paths.base, 'it is missing');
  if (matches(base, commit.base)) return base;
  const next = await fs.read(nextOf(paths.base));
  if (commit.turn?.base === 'rewrite' && next && matches(next, commit.base)) return next;
  const before = base.subarray(0, commit.previous.bytes);
  const added = commit.turn && appended(commit, log);
  const isNext = added && matches(before, commit.previous) && checksum(added, commit.previous.crc) === commit.base.crc;
  if (!isNext) throw await corruptStore(stored, paths.base, 'it does not match the last commit');
  return Buffer.concat([before, added]);
}

function appended({ turn, base }: CommitRecord, log: readonly LogLine[]): Uint8Array | undefined {
  if (!turn || turn.base === 'rewrite') return undefined;
  const records = recordsOf(turn, base.seq, log);
  const lines: string[] = [];
  for (const part of turn.base) {
    const message = typeof part === 'number' ? messageOf(records, part) : reviveMessage(part);
    if (!message) return undefined;
    lines.push(`${encodeMessage(message)}\n`);
  }
  return Buffer.from(lines.join(''));
}
