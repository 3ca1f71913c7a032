/** Reads dead letters from a running swarm, or from disk if the swarm does not run. */
import type { DeadLetterSummary, InstanceChoice } from '@goondan/runtime/control';
import { summariseDeadLetter } from '@goondan/runtime/internal';
import { withJournal } from '../instance/with-journal.ts';
import { attachSwarm, type SwarmPlace } from './attach-swarm.ts';

/** **Errors** — those of the store and of the control socket. */
export async function readDeadLetters(
  place: SwarmPlace,
  choice: InstanceChoice,
): Promise<readonly DeadLetterSummary[]> {
  const swarm = await attachSwarm(place);
  if (swarm !== undefined) return swarm.deadLetters(choice);
  const { agent, instanceKey } = choice;
  return withJournal(place, [], async (journal) => {
    const chosen = (await journal.instances())
      .filter((at) => agent === undefined || at.agentName === agent)
      .filter((at) => instanceKey === undefined || at.instanceKey === instanceKey);
    const letters = await Promise.all(
      chosen.map(async (at) => (await journal.deadLetters.list(at)).map((letter) => summariseDeadLetter(at, letter))),
    );
    return letters.flat();
  });
}
