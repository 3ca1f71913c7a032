/** Summarises a conversation for the person who is about to delete it. */
import type { InstanceSummary } from '@goondan/runtime/history';
import { pendingInputs } from '@goondan/runtime/internal';
import { type AgentAddress, GoondanError } from '@goondan/types';
import type { SwarmPlace } from '../swarm/swarm-place.ts';
import { unknownInstance } from './unknown-instance.ts';
import { withStore } from './with-store.ts';

/**
 * Returns `undefined` when the conversation exists but cannot be read. **Errors** — `E_INSTANCE_UNKNOWN`; without
 * `force`, those of the store and `E_INSTANCE_PENDING`, so that nobody confirms a deletion that is then refused.
 */
export async function describeInstance(
  place: SwarmPlace,
  at: AgentAddress,
  force: boolean,
): Promise<InstanceSummary | undefined> {
  const found = await withStore(place, undefined, async ({ directory }) => {
    if (!(await directory.has(at))) throw unknownInstance(at, await directory.instances());
    return { summary: await directory.summary(at).catch((error: unknown) => passOver(error, force)) };
  });
  if (found === undefined) throw unknownInstance(at, []);
  const { summary } = found;
  if (summary !== undefined && summary.pending > 0 && !force) throw pendingInputs(at, summary.pending);
  return summary;
}

function passOver(error: unknown, force: boolean): undefined {
  if (!GoondanError.is(error)) throw error;
  if (force) return undefined;
  const suggestion =
    'Nothing was deleted. Restore the file from a backup; `gdn instance export` and `gdn fork` save what is intact. ' +
    'To delete all of it for good, add `--force`.';
  throw new GoondanError(error.code, error.message, { suggestion, cause: error });
}

/** Formats a summary, such as `12 messages, 2 accepted inputs that are not handled yet, 1 dead letter`. */
export function listParts(summary: InstanceSummary | undefined): string {
  if (summary === undefined) return 'files that cannot be read';
  const { messages, pending, deadLetters } = summary;
  const inputs = `accepted ${pending === 1 ? 'input that is' : 'inputs that are'} not handled yet`;
  return [
    `${messages} ${messages === 1 ? 'message' : 'messages'}`,
    ...(pending === 0 ? [] : [`${pending} ${inputs}`]),
    ...(deadLetters === 0 ? [] : [`${deadLetters} ${deadLetters === 1 ? 'dead letter' : 'dead letters'}`]),
  ].join(', ');
}
