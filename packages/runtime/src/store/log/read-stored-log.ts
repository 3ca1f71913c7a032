/** Reads a log that is kept elsewhere: its checkpoint, and the frames after it. */
import type { AgentAddress, Message } from '@goondan/types';
import type { ConversationSnapshot } from '../../agent/conversation/conversation-store.ts';
import { MessageList } from '../../messages/message-list.ts';
import { decodeBase } from '../../messages/message-text.ts';
import { parseExtensions } from '../../workspace/records/extension-files.ts';
import { foldTurn } from '../../workspace/records/fold-base.ts';
import { countNumbers, decodeFrame, type Frame } from '../../workspace/records/frame.ts';
import type { CommittedTurn } from '../../workspace/records/gather-turns.ts';
import type { FinishedTurn } from '../../workspace/records/finished-turns.ts';
import { finishedTurns, type LogState } from '../../workspace/records/log-state.ts';
import type { StoredLog } from '../conversation-log.ts';
import { decodeCheckpoint, firstState } from './log-checkpoint.ts';
import { corruptLine } from './name-instance.ts';

export interface ReadStoredLog {
  /** False if the log has neither a frame nor a checkpoint: the conversation is new. */
  readonly exists: boolean;
  readonly createdAt: string;
  readonly state: LogState;
  /** The states by extension name: JSON texts. */
  readonly texts: ReadonlyMap<string, string>;
  /** The turns that were committed after the checkpoint. */
  readonly turns: readonly CommittedTurn[];
  /** The known turns, oldest first. */
  readonly finished: readonly FinishedTurn[];
}

/** Reads a log. `now`: the time at which a new conversation is created. **Errors** — `E_STORE_CORRUPT`. */
export function readStoredLog(
  instance: AgentAddress,
  stored: Pick<StoredLog, 'checkpoint' | 'frames'>,
  now = new Date(0),
): ReadStoredLog {
  const frames = [...decodeLines(instance, stored.frames)];
  const before = stored.checkpoint === undefined ? undefined : decodeCheckpoint(instance, stored.checkpoint);
  const [first] = frames;
  const exists = before !== undefined || first !== undefined;
  const createdAt = exists ? (before?.createdAt ?? first?.head?.createdAt) : now.toISOString();
  if (createdAt === undefined) throw corruptLine(instance, 'its first frame is missing');
  const state = before?.state ?? firstState(createdAt);
  if (before && first && first.seq !== state.seq + 1)
    throw corruptLine(instance, `frames are missing between ${state.seq} and ${first.seq}`);
  const turns = frames.flatMap((frame) => state.apply(frame) ?? []);
  const finished = [...(before?.finished ?? []), ...turns.flatMap(finishedTurns)];
  return { exists, createdAt, state, texts: textsOf(instance, state), turns, finished };
}

/** Decodes lines, whose numbers must have no gaps. **Errors** — `E_STORE_CORRUPT`, at the first bad line. */
export function* decodeLines(instance: AgentAddress, lines: Iterable<string>): Generator<Frame> {
  let last: number | undefined;
  for (const line of lines) {
    const frame = decodeFrame(Buffer.from(line));
    if (!frame) throw corruptLine(instance, `the frame after number ${last ?? 0} does not match its checksum`);
    if (last !== undefined && frame.seq !== last + 1)
      throw corruptLine(instance, `frames are missing between ${last} and ${frame.seq}`);
    last = frame.seq + countNumbers(frame) - 1;
    yield frame;
  }
}

function textsOf(instance: AgentAddress, { states }: LogState): ReadonlyMap<string, string> {
  return new Map(
    Array.from(states, ([name, text]) => {
      if (typeof text !== 'string') throw corruptLine(instance, `the state of "${name}" is in a file`);
      return [name, text];
    }),
  );
}

/** Folds turns into the base. `pieces`: its lines, as a store returns them. */
export function foldPieces(pieces: readonly string[], turns: readonly CommittedTurn[]): MessageList {
  return turns.reduce(foldTurn, MessageList.of(decodeBase(Buffer.from(pieces.join('')))));
}

/** Returns the committed conversation. **Errors** — those of `readStoredLog`. */
export function snapshotOf(instance: AgentAddress, stored: Omit<StoredLog, 'epoch'>): ConversationSnapshot {
  const { state, texts, turns } = readStoredLog(instance, stored);
  const messages: readonly Message[] = foldPieces(stored.base, turns).snapshot();
  return { version: state.version, stateVersion: state.stateVersion, messages, extensionState: parseExtensions(texts) };
}
