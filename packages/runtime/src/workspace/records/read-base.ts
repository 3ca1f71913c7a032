/** Reads the messages of a conversation: `base.jsonl` at the checkpoint, and the turns after it. */
import type { Message } from '@goondan/types';
import { decodeBase } from '../../messages/message-text.ts';
import { MessageList } from '../../messages/message-list.ts';
import { nextOf, type StoredInstance } from '../layout/instance-paths.ts';
import { foldTurn } from './fold-base.ts';
import type { CommittedTurn } from './gather-turns.ts';
import { matches, type StoredBase } from './metadata.ts';

export interface BaseFile {
  /** The bytes up to the checkpoint. A crash may have left more bytes in the file. */
  readonly bytes: Uint8Array;
  /** True if the bytes are in `base.jsonl.next`, which was not renamed yet. */
  readonly isNext: boolean;
}

/** Reads the base that matches the mark: its file, or the text in the checkpoint. Returns `undefined` when no file does. */
export async function readBaseFile(
  { fs, paths }: Pick<StoredInstance, 'fs' | 'paths'>,
  mark: StoredBase,
): Promise<BaseFile | undefined> {
  if (mark.text !== undefined) return { bytes: Buffer.from(mark.text), isNext: false };
  if (mark.bytes === 0) {
    // After a reset that was cut off, the empty file still waits for its rename.
    const next = await fs.stat(nextOf(paths.base));
    return { bytes: new Uint8Array(), isNext: next?.size === 0 };
  }
  for (const isNext of [false, true]) {
    const bytes = await fs.read(isNext ? nextOf(paths.base) : paths.base, 0, mark.bytes);
    if (bytes && matches(bytes, mark)) return { bytes, isNext };
  }
  return undefined;
}

/** Returns the messages after these turns. */
export function foldBase({ bytes }: BaseFile, turns: readonly CommittedTurn[]): readonly Message[] {
  const messages = decodeBase(bytes);
  if (turns.length === 0) return messages;
  return turns.reduce(foldTurn, MessageList.of(messages)).snapshot();
}
