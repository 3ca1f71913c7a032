import type { Clock } from '../../ports/clock.ts';
import type { Instance } from './instance.ts';
import type { Instances } from './instances.ts';

export interface Draining {
  readonly clock: Clock;
  readonly graceMs: number;
  /** Aborted: nobody may finish any more. */
  readonly hurry: AbortSignal;
  /** Whether somebody who is not gone waits for it: it goes after those. */
  readonly isAwaited: (instance: Instance) => boolean;
}

/** Resolves when every instance has stopped. What has not within `graceMs` is ended. */
export async function drainInstances(
  instances: Instances,
  { clock, graceMs, hurry, isAwaited }: Draining,
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
    instances.replan();
  };
  const callOff = clock.after(graceMs, endNow);
  hurry.addEventListener('abort', endNow, { once: true });
  if (hurry.aborted) endNow();
  await instances.until(isOver);
  callOff();
}
