/** Chooses the conversation of a command that may leave out its agent and key. */
import type { Moment } from '@goondan/runtime/history';
import { type AgentAddress, GoondanError } from '@goondan/types';
import { quoteForShell } from '../quote-for-shell.ts';
import type { SwarmPlace } from '../swarm/swarm-place.ts';
import { unknownInstance } from './unknown-instance.ts';
import { withStore } from './with-store.ts';

/** The names that a command was given. */
type Named = { readonly [Name in keyof AgentAddress]: string | undefined };

/** The number of conversations in an error message. */
const MOST_NAMED = 5;

/**
 * Returns the conversation that was named, or else the only one: of the agent, or of the swarm. If there are several,
 * returns the one with the turn of the moment `at`, which is found by its trace.
 *
 * **Errors** — `E_USAGE` when there are several, with their names; `E_INSTANCE_UNKNOWN` when there is none;
 * `E_TRACE_AMBIGUOUS`.
 */
export async function chooseInstance(
  place: SwarmPlace,
  { agentName, instanceKey }: Named,
  at?: Moment,
): Promise<AgentAddress> {
  if (agentName !== undefined && instanceKey !== undefined) return { agentName, instanceKey };
  const known = await withStore(place, [], ({ directory }) => directory.instances());
  const possible = known.filter((each) => agentName === undefined || each.agentName === agentName);
  const [only, ...others] = possible;
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined) {
    const meant = typeof at === 'string' ? await findByTurn(place, at, possible) : undefined;
    if (meant === undefined) throw several(possible);
    return meant;
  }
  if (agentName !== undefined) throw unknownInstance({ agentName, instanceKey: 'default' }, known);
  throw new GoondanError('E_INSTANCE_UNKNOWN', 'There are no conversations yet.');
}

async function findByTurn(
  place: SwarmPlace,
  id: string,
  possible: readonly AgentAddress[],
): Promise<AgentAddress | undefined> {
  try {
    const [turn] = await withStore(place, [], async ({ traces }) => (await traces.read(id)).turns);
    return possible.find((each) => each.agentName === turn?.agentName && each.instanceKey === turn.instanceKey);
  } catch (error) {
    // The swarm may record no traces.
    if (GoondanError.is(error) && error.code === 'E_TRACE_UNKNOWN') return undefined;
    throw error;
  }
}

function several(possible: readonly AgentAddress[]): GoondanError {
  const names = possible
    .toSorted((one, other) =>
      `${one.agentName} ${one.instanceKey}` < `${other.agentName} ${other.instanceKey}` ? -1 : 1,
    )
    .slice(0, MOST_NAMED)
    .map(({ agentName, instanceKey }) => `\`${quoteForShell(agentName)} ${quoteForShell(instanceKey)}\``);
  const more = possible.length > MOST_NAMED ? ', …' : '';
  return new GoondanError(
    'E_USAGE',
    `There are ${possible.length} conversations, and the command does not say which one.`,
    {
      suggestion: `Add the agent and the key of one of them: ${names.join(', ')}${more}.`,
    },
  );
}
