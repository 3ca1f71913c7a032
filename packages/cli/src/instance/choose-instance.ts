/** Chooses the conversation of a command that may leave out its agent and key. */
import { type AgentAddress, GoondanError } from '@goondan/types';
import { quoteForShell } from '../quote-for-shell.ts';
import type { SwarmPlace } from '../swarm/attach-swarm.ts';
import { unknownInstance } from './unknown-instance.ts';
import { withJournal } from './with-journal.ts';

/** The names that a command was given. */
type Named = { readonly [Name in keyof AgentAddress]: string | undefined };

/** The number of conversations in an error message. */
const MOST_NAMED = 5;

/**
 * Returns the conversation that was named, or else the only one: of the agent, or of the swarm. **Errors** — `E_USAGE`
 * when there are several, with their names; `E_INSTANCE_UNKNOWN` when there is none.
 */
export async function chooseInstance(place: SwarmPlace, { agentName, instanceKey }: Named): Promise<AgentAddress> {
  if (agentName !== undefined && instanceKey !== undefined) return { agentName, instanceKey };
  const known = await withJournal(place, [], (journal) => journal.instances());
  const possible = known.filter((each) => agentName === undefined || each.agentName === agentName);
  const [only, ...others] = possible;
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined) throw several(possible);
  if (agentName !== undefined) throw unknownInstance({ agentName, instanceKey: 'default' }, known);
  throw new GoondanError('E_INSTANCE_UNKNOWN', 'There are no conversations yet.');
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
