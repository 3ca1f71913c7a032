/**
 * Plans the first commit of a fork. For each message, the log gets an `append` with the original author and the original
 * event.
 */
import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';
import type { BlamedMessage } from '../history/blamed-message.ts';
import { encodeRecord, type EventOrigin } from '../records/logged-record.ts';
import type { ForkOrigin } from '../records/metadata.ts';

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
