/**
 * Plans the first commit of a fork. For each message, the archive gets an `append` with the original author and the
 * original event.
 */
import type { AgentAddress, JsonValue } from '@goondan/types';
import type { BlamedMessage } from '../history/blamed-message.ts';
import { logRecord, type LoggedRecord, type EventOrigin } from '../records/logged-record.ts';
import { type ForkOrigin, newMetadata } from '../records/metadata.ts';
import { type CommitPlan, planCommit } from './plan-commit.ts';

const TURN_ID = 'fork-1';

/** Plans the commit for an instance that does not exist yet. */
export function planFork(
  to: AgentAddress,
  {
    from,
    messages,
    extensionState,
  }: {
    readonly from: ForkOrigin;
    readonly messages: readonly BlamedMessage[];
    readonly extensionState: Readonly<Record<string, JsonValue>>;
  },
  now: Date,
): CommitPlan {
  const turn = {
    turnId: TURN_ID,
    log: messages.map((each, index) => forkedRecord(each, from, index + 1)),
    delta: { type: 'rewrite', messages: messages.map(({ message }) => message) },
    extensionState,
    result: 'fork',
    fork: from,
    entry: undefined,
  } as const;
  return planCommit(newMetadata(to, now), new Map(), turn, now);
}

function forkedRecord(blamed: BlamedMessage, from: ForkOrigin, seq: number): LoggedRecord {
  const { message, author, at, stepId } = blamed;
  const step = stepId === undefined ? {} : { stepId };
  const record = { type: 'message', event: { type: 'append', message }, author, ...step } as const;
  const place = { seq, with: 1, turnId: TURN_ID, isFirst: seq === 1, at: at.getTime() };
  const logged = logRecord(record, place);
  if (from.seq === undefined) return logged;
  return { ...logged, text: `${logged.text.slice(0, -1)},"origin":${JSON.stringify(originOf(blamed, from))}}` };
}

/** Returns the origin of a message. For a message copied by an earlier fork, it is the event before that fork. */
function originOf({ origin, turnId, seq, replaced }: BlamedMessage, { instanceKey }: ForkOrigin): EventOrigin {
  if (origin) return origin;
  if (!replaced) return { instanceKey, turnId, seq };
  const { messages: _, ...numbers } = replaced;
  return { instanceKey, turnId, seq, replaced: numbers };
}
