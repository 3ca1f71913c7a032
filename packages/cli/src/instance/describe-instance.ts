/** What is there of a conversation, so that whoever deletes it knows what goes. */
import type { Journal } from '@goondan/runtime';
import { type AgentAddress, GoondanError } from '@goondan/types';
import type { SwarmPlace } from '../swarm/attach-swarm.ts';
import { unknownInstance } from './unknown-instance.ts';
import { withJournal } from './with-journal.ts';

type Summary = Awaited<ReturnType<Journal['summary']>>;

/**
 * `undefined` when it is there and cannot be read. **Errors** — `E_INSTANCE_UNKNOWN`; those of the store unless
 * `evenDamaged`.
 */
export async function describeInstance(
  place: SwarmPlace,
  at: AgentAddress,
  evenDamaged: boolean,
): Promise<Summary | undefined> {
  const found = await withJournal(place, undefined, async (journal) => {
    if (!(await journal.has(at))) throw unknownInstance(at, await journal.instances());
    return { summary: await journal.summary(at).catch((error: unknown) => passOver(error, evenDamaged)) };
  });
  if (found === undefined) throw unknownInstance(at, []);
  return found.summary;
}

function passOver(error: unknown, evenDamaged: boolean): undefined {
  if (!(error instanceof GoondanError)) throw error;
  if (evenDamaged) return undefined;
  const suggestion =
    'Nothing was deleted. Restore the file from a backup; `gdn instance export` and `gdn fork` save what is intact. ' +
    'To delete all of it for good, add `--force`.';
  throw new GoondanError(error.code, error.message, { suggestion, cause: error });
}

/** `12 messages, 2 accepted inputs that are not handled yet, 1 dead letter`. */
export function listParts(summary: Summary | undefined): string {
  if (summary === undefined) return 'files that cannot be read';
  const { messages, pending, deadLetters } = summary;
  const inputs = `accepted ${pending === 1 ? 'input that is' : 'inputs that are'} not handled yet`;
  return [
    `${messages} ${messages === 1 ? 'message' : 'messages'}`,
    ...(pending === 0 ? [] : [`${pending} ${inputs}`]),
    ...(deadLetters === 0 ? [] : [`${deadLetters} ${deadLetters === 1 ? 'dead letter' : 'dead letters'}`]),
  ].join(', ');
}
