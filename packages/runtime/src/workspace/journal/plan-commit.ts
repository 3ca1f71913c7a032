/** Decides everything that a commit will write, before the first write. */
import type { JsonValue, TurnResult } from '@goondan/types';
import type { BaseDelta } from '../../agent/conversation/conversation-store.ts';
import { archiveTexts } from '../archive/archive-lines.ts';
import type { InboxEntry } from '../inbox/inbox-lines.ts';
import { checksum } from '../lines/checksum.ts';
import { sealLines } from '../lines/seal-lines.ts';
import { marksOf, planExtensions, type StatesPlan } from './plan-states.ts';
import { encodeMessage, type StoredMessage } from '../../messages/message-text.ts';
import type { LoggedRecord } from '../records/logged-record.ts';
import {
  logStart,
  type CommittedTurn,
  type FileMark,
  type ForkOrigin,
  type InstanceMetadata,
  type StoredResult,
} from '../records/metadata.ts';

export interface TurnToCommit {
  readonly turnId: string;
  readonly log: readonly LoggedRecord[];
  readonly delta: BaseDelta;
  readonly extensionState: Readonly<Record<string, JsonValue>>;
  readonly result: TurnResult | 'reset' | 'fork';
  /** Present when the result is `fork`. */
  readonly fork?: ForkOrigin;
  /** The event that the turn handled, if it came through the inbox. */
  readonly entry: InboxEntry | undefined;
}

export interface CommitPlan extends StatesPlan {
  /** The bytes to append to `base.jsonl`, or all of its bytes if it is rewritten. */
  readonly baseBytes: Uint8Array;
  readonly isRewrite: boolean;
  readonly archiveBytes: Uint8Array;
}

export function planCommit(
  before: InstanceMetadata,
  committed: ReadonlyMap<string, string>,
  turn: TurnToCommit,
  now: Date,
): CommitPlan {
  const { delta, log, result, entry } = turn;
  const previous = before.commit.base;
  const start = logStart(before.commit);
  const isRewrite = delta.type === 'rewrite';
  const texts = delta.messages.map(encodeMessage);
  const baseBytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
  const { extensions, changed, removed } = planExtensions(committed, turn.extensionState);
  const states = archivedStates(before.commit, { extensions, changed, removed });

  /** The last record that contains each message, by message id. */
  const brought = new Map<string, { readonly seq: number; readonly text: string }>();
  for (const { seq, message } of log) if (message) brought.set(message.id, { seq, text: message.text });
  /** Returns the number of the record that contains the message, so that it is not stored twice, or else the message. */
  const refer = (id: string, text: string): number | StoredMessage => {
    const found = brought.get(id);
    // Safe: encodeMessage made the text; dates are strings in JSON.
    return found?.text === text ? found.seq : (JSON.parse(text) as StoredMessage);
  };
  const committedTurn: CommittedTurn = {
    id: turn.turnId,
    at: now.getTime(),
    after: start,
    events: log.filter(({ record }) => record.type === 'message').length,
    base: isRewrite ? 'rewrite' : delta.messages.map(({ id }, index) => refer(id, texts[index] ?? '')),
    result: typeof result === 'string' ? result : storeResult(result, refer),
    ...(states && { states }),
    ...(turn.fork && { fork: turn.fork }),
    ...(entry?.event.replyTo && { replyTo: entry.event.replyTo }),
  };
  const commit = {
    version: before.commit.version + 1,
    turn: committedTurn,
    base: { ...markAfter(previous, baseBytes, isRewrite), seq: start + log.length + 1 },
    messages: (isRewrite ? 0 : before.commit.messages) + delta.messages.length,
    previous,
    inbox: entry?.seq ?? before.commit.inbox,
    extensions: marksOf(extensions),
    ...(before.commit.statesAlone && { statesAlone: { count: before.commit.statesAlone.count, unarchived: [] } }),
  };
  const isFailed = typeof result === 'object' && result.finishReason === 'error';
  return {
    metadata: { ...before, status: isFailed ? 'failed' : 'idle', updatedAt: now.toISOString(), commit },
    baseBytes,
    isRewrite,
    archiveBytes: sealLines(archiveTexts(commit, log, previous.seq, extensions)),
    extensions,
    changed,
    removed,
  };
}

/**
 * Returns the state changes to archive, including those that were committed alone since the last turn. Returns
 * `undefined` when no state changed.
 */
function archivedStates(
  { statesAlone }: InstanceMetadata['commit'],
  { extensions, changed, removed }: Omit<StatesPlan, 'metadata'>,
): CommittedTurn['states'] {
  const earlier = statesAlone?.unarchived ?? [];
  const all = {
    changed: [...new Set([...changed, ...earlier.filter((name) => extensions.has(name))])],
    removed: [...new Set([...removed, ...earlier.filter((name) => !extensions.has(name))])],
  };
  return all.changed.length + all.removed.length > 0 ? all : undefined;
}

function storeResult(
  { finishReason, truncated, error, responseMessage }: TurnResult,
  refer: (id: string, text: string) => number | StoredMessage,
): StoredResult {
  return {
    finishReason,
    ...(truncated === true && { truncated }),
    ...(error && { error }),
    ...(responseMessage && { response: refer(responseMessage.id, encodeMessage(responseMessage)) }),
  };
}

function markAfter(previous: FileMark, bytes: Uint8Array, isRewrite: boolean): FileMark {
  if (isRewrite) return { bytes: bytes.length, crc: checksum(bytes) };
  return { bytes: previous.bytes + bytes.length, crc: checksum(bytes, previous.crc) };
}
