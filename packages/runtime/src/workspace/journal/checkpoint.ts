/**
 * Writes a checkpoint: `base.jsonl`, the files of extensions, and `metadata.json`, which makes them valid. A short base
 * is in `metadata.json` itself, until it has grown once. Runs between turns. After a crash at any point, the files of the
 * old or of the new checkpoint are complete: a file that the old checkpoint needs is extended behind its end, or replaced
 * only after `metadata.json`.
 */
import { encodeBase } from '../../messages/message-text.ts';
import { keepRecent } from '../../usage/spending.ts';
import { nextOf, type StoredInstance } from '../layout/instance-paths.ts';
import { AppendLog } from '../lines/append-log.ts';
import { checksum } from '../lines/checksum.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { prepareFile, putInPlace, replaceFile } from '../lines/replace-file.ts';
import { markOf, placeExtensions, prepareExtensions, removeStrayExtensions } from '../records/extension-files.ts';
import { appendedBy, isAppend } from '../records/fold-base.ts';
import type { CommittedTurn } from '../records/gather-turns.ts';
import type { LogState } from '../records/log-state.ts';
import { encodeMetadata, type InstanceMetadata, type StoredBase } from '../records/metadata.ts';
import { foldBase, readBaseFile } from '../records/read-base.ts';
import type { LogPlace } from './instance-log.ts';

export interface CheckpointInput {
  readonly before: InstanceMetadata;
  /** The turns that were committed since. */
  readonly turns: readonly CommittedTurn[];
  readonly state: LogState;
  /** The states by extension name. */
  readonly texts: ReadonlyMap<string, string>;
  readonly place: LogPlace;
  readonly closedBy: number;
}

/** Writes the checkpoint, which is durable when the promise resolves. Returns the new metadata. */
export async function writeCheckpoint(stored: StoredInstance, input: CheckpointInput): Promise<InstanceMetadata> {
  const { fs, paths } = stored;
  const { before, turns, state, texts, place, closedBy } = input;
  const base = await prepareBase(stored, before.checkpoint.base, turns);
  const marks = Object.fromEntries(Array.from(texts, ([name, text]) => [name, markOf(text)] as const));
  // All other states are in their files, long states since their commits.
  const changed = [...texts.keys()].filter((name) => typeof state.states.get(name) === 'string');
  await prepareExtensions(stored, texts, changed);
  const spent = keepRecent(state.spent.list(), stored.clock.now().getTime());
  const metadata: InstanceMetadata = {
    ...before,
    checkpoint: {
      closedBy,
      ...place,
      seq: state.seq,
      version: state.version,
      status: state.status,
      updatedAt: state.updatedAt,
      base: base.mark,
      messages: state.messages,
      inbox: state.inbox,
      ...(state.taken.length > 0 && { taken: state.taken }),
      extensions: marks,
      statesAlone: state.statesAlone,
      answers: state.answerEntries,
      answersRemoved: state.answersRemoved,
      letters: state.letterEntries,
      ...(spent.length > 0 && { spent }),
    },
  };
  await replaceFile(fs, paths.metadata, encodeMetadata(metadata));
  if (base.isNext) await putInPlace(fs, paths.base);
  await placeExtensions(stored, changed);
  const names = Object.keys(before.checkpoint.extensions);
  if (names.some((name) => !texts.has(name))) await removeStrayExtensions(stored, texts.keys());
  for (const [name, mark] of Object.entries(marks)) state.states.set(name, mark);
  return metadata;
}

async function prepareBase(
  stored: StoredInstance,
  mark: StoredBase,
  turns: readonly CommittedTurn[],
): Promise<{ readonly mark: StoredBase; readonly isNext: boolean }> {
  const { fs, paths, limits } = stored;
  const hasFile = mark.text === undefined && mark.bytes > 0;
  if (hasFile && turns.every(isAppend)) {
    const bytes = Buffer.from(encodeBase(turns.flatMap(appendedBy)));
    if (bytes.length > 0) await writeBase(stored, mark.bytes, bytes);
    return { mark: { bytes: mark.bytes + bytes.length, crc: checksum(bytes, mark.crc) }, isNext: false };
  }
  const before = await readBaseFile(stored, mark);
  if (!before) throw await corruptStore(stored, paths.base, 'it does not match the checkpoint');
  const bytes = Buffer.from(encodeBase(foldBase(before, turns)));
  const next = { bytes: bytes.length, crc: checksum(bytes) };
  if (hasFile) {
    await prepareFile(fs, paths.base, bytes);
    // The checkpoint refers to this file, so its directory entry must be durable too.
    await fs.syncFolder(paths.messages);
    return { mark: next, isNext: true };
  }
  if (bytes.length === 0) return { mark: next, isNext: false };
  if (bytes.length <= limits.shortBaseBytes) {
    return { mark: { ...next, text: new TextDecoder().decode(bytes) }, isNext: false };
  }
  // The old checkpoint does not need the file.
  await writeBase(stored, 0, bytes);
  await fs.syncFolder(paths.messages);
  return { mark: next, isNext: false };
}

/** Writes bytes into `base.jsonl` at this offset, and removes what follows it. */
async function writeBase({ fs, paths }: StoredInstance, offset: number, bytes: Uint8Array): Promise<void> {
  const file = await AppendLog.open(fs, paths.base);
  try {
    // A checkpoint that was interrupted may have left bytes behind the mark.
    if (file.size > offset) await file.truncate(offset);
    await file.write(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Finishes a checkpoint that was interrupted after its commit point, and removes drafts of one before it. */
export async function finishCheckpoint(
  stored: StoredInstance,
  isNextBase: boolean,
  toRename: readonly string[],
): Promise<void> {
  const { fs, paths } = stored;
  if (isNextBase) await putInPlace(fs, paths.base);
  else await fs.remove(nextOf(paths.base));
  await placeExtensions(stored, toRename);
  await fs.remove(nextOf(paths.metadata));
}
