/** Reads dead letters from a running swarm, or from disk if the swarm does not run. */
import type { DeadLetterSummary, InstanceChoice } from '@goondan/runtime/control';
import { summariseDeadLetter } from '@goondan/runtime/internal';
import { type AgentAddress, GoondanError } from '@goondan/types';
import { withStore } from '../instance/with-store.ts';
import { attachSwarm } from './attach-swarm.ts';
import type { SwarmPlace } from './swarm-place.ts';

/**
 * Reads the chosen dead letters. Instances that cannot be read are reported to `warn`, unless one was chosen by its key.
 * **Errors** — those of the store and of the control socket.
 */
export async function readDeadLetters(
  place: SwarmPlace,
  choice: InstanceChoice,
  warn: (problem: string) => void,
): Promise<readonly DeadLetterSummary[]> {
  const swarm = await attachSwarm(place);
  if (swarm !== undefined) return swarm.deadLetters(choice);
  const { agent, instanceKey } = choice;
  return withStore(place, [], async ({ directory, deadLetters }) => {
    const chosen = (await directory.instances())
      .filter((at) => agent === undefined || at.agentName === agent)
      .filter((at) => instanceKey === undefined || at.instanceKey === instanceKey);
    const letters = await Promise.all(
      chosen.map(async (at) => (await lettersOf(at)).map((letter) => summariseDeadLetter(at, letter))),
    );
    return letters.flat();

    async function lettersOf(at: AgentAddress) {
      try {
        return await deadLetters.list(at);
      } catch (error) {
        if (instanceKey !== undefined || !GoondanError.is(error)) throw error;
        warn(`The dead letters of ${at.agentName} (${at.instanceKey}) cannot be read: ${error.code}: ${error.message}`);
        return [];
      }
    }
  });
}
