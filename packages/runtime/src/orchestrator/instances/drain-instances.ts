import type { AgentAddress } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import type { Instance } from './instance.ts';
import type { Instances } from './instances.ts';

export interface DrainDeps {
  readonly clock: Clock;
  /** Who waits for its answer. */
  readonly callersOf: (address: AgentAddress) => readonly AgentAddress[];
}

/**
 * Lets every process finish its turn and go. Whoever is waited for goes after those who wait for it. What is not gone
 * within `graceMs` is killed; its events are there at the next start.
 */
export async function drainInstances(
  instances: Instances,
  { clock, callersOf }: DrainDeps,
  graceMs: number,
  hurry: AbortSignal,
): Promise<void> {
  let deadline = clock.elapsed() + graceMs;
  /** What each was told: may it finish its turn, or not even that? */
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
  // What is still on its way to the disk is there at the next start.
  instances.close();
  callOff();

  /** One that has left its turn no longer waits; the next start asks again. */
  function isAwaited({ address }: Instance): boolean {
    return callersOf(address).some((caller) => {
      const waiting = instances.find(caller);
      return waiting !== undefined && waiting.state.phase.name !== 'stopped';
    });
  }
}
