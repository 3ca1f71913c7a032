/**
 * Plans the first commit of a fork. For each message, the log gets an `append` with the original author and the original
 * event.
 */
import type { JsonValue } from '@goondan/types';
import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';
import type { BlamedMessage } from '../history/blamed-message.ts';
import type { CommitEntry } from '../records/frame.ts';
import type { LogState } from '../records/log-state.ts';
import { encodeRecord, type EventOrigin, numberRecords } from '../records/logged-record.ts';
import type { ForkOrigin } from '../records/metadata.ts';
import { planCommit, planStates, type StatesPlan } from './plan-commit.ts';

const TURN_ID = 'fork-1';

export interface ForkedConversation {
  readonly from: ForkOrigin;
  readonly messages: readonly BlamedMessage[];
  readonly extensionState: Readonly<Record<string, JsonValue>>;
}

/** The first commit of a fork. `texts`: the JSON texts of its records. */
export interface ForkCommit {
  readonly turn: string;
  readonly texts: readonly string[];
  readonly states: StatesPlan;
  readonly commit: CommitEntry;
}

/** Plans the commit after the state of a new log. `longest`: the maximum length of a state in the log. */
export function planForkCommit(state: LogState, fork: ForkedConversation, at: number, longest?: number): ForkCommit {
  const { from, messages, extensionState } = fork;
  const { records, texts } = planFork(from, messages);
  const log = numberRecords(records, state.seq + 1, at);
  const states = planStates(new Map(), extensionState, [], longest);
  const delta = { type: 'append', messages: messages.map(({ message }) => message) } as const;
  return {
    turn: TURN_ID,
    texts,
    states,
    commit: planCommit(state, { log, delta, states, result: 'fork', fork: from }),
  };
}

/** Returns the records of the fork and their JSON texts. */
export function planFork(
  from: ForkOrigin,
  messages: readonly BlamedMessage[],
): { readonly records: readonly TurnRecord[]; readonly texts: readonly string[] } {
  const records = messages.map(({ message, author, stepId }) => {
    const step = stepId === undefined ? {} : { stepId };
    return { type: 'message', event: { type: 'append', message }, author, ...step } as const;
  });
  const texts = messages.map((blamed, index) => {
    const at = blamed.at.getTime();
    const origin = from.seq === undefined ? {} : { origin: originOf(blamed, from) };
    return encodeRecord(records[index] ?? { type: 'resumed' }, { at, ...origin });
  });
  return { records, texts };
}

/** Returns the origin of a message. For a message copied by an earlier fork, it is the event before that fork. */
function originOf({ origin, turnId, seq, replaced }: BlamedMessage, { instanceKey }: ForkOrigin): EventOrigin {
  if (origin) return origin;
  if (!replaced) return { instanceKey, turnId, seq };
  const { messages: _, ...numbers } = replaced;
  return { instanceKey, turnId, seq, replaced: numbers };
}
