import type { AgentAddress } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import type { Instance } from './instance.ts';
import type { Instances } from './instances.ts';

/**
 * Lets every process finish its turn and end. An awaited instance ends after the instances that wait for it. Processes
 * that are left after `graceMs` are killed; their events are handled at the next start. `callersOf`: the instances that
 * wait for an answer.
 */
export async function drainInstances(
  instances: Instances,
  clock: Clock,
  callersOf: (address: AgentAddress) => readonly AgentAddress[],
  graceMs: number,
  hurry: AbortSignal,
): Promise<void> {
  let deadline = clock.elapsed() + graceMs;
  /** The last order to each instance: finish the turn, or end at once. */
  const told = new Map<Instance, 'go' | 'end'>();
  const isOver = () => {
    const rest = Math.max(0, deadline - clock.elapsed());
    const word = rest === 0 ? 'end' : 'go';
    const left = [...instances.all()].filter(({ state }) => state.phase.name !== 'stopped');
    for (const instance of left) {
      if (told.get(instance) === word || (word === 'go' && isAwaited(instance))) continue;
      told.set(instance, word);
      instances.post(instance.address, { type: 'drain', graceMs: rest, afterwards: 'stop' });
    }
    return left.length === 0;
  };
  const endNow = () => {
    deadline = clock.elapsed();
    instances.waitsChanged();
  };
  const callOff = clock.after(graceMs, endNow);
  hurry.addEventListener('abort', endNow, { once: true });
  if (hurry.aborted) endNow();
  await instances.until(isOver);
  // Events that are still being written are handled at the next start.
  instances.close();
  callOff();

  /**
   * Tells whether an instance waits for the answer. One that has left its turn no longer waits; the next start asks
   * again.
   */
  function isAwaited({ address }: Instance): boolean {
    return callersOf(address).some((caller) => {
      const waiting = instances.find(caller);
      return waiting !== undefined && waiting.state.phase.name !== 'stopped';
    });
  }
}
