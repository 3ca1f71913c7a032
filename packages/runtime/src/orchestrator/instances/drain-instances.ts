import type { AgentAddress } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import type { Instance } from './instance.ts';
import type { Instances } from './instances.ts';

/**
 * Lets every process finish its turn and exit. An instance exits after the instances that wait for its answer.
 * Processes that are left after `graceMs` are killed; their events are handled at the next start. `callersOf` returns
 * the instances that wait for an answer of the given instance.
 */
export async function drainInstances(
  instances: Instances,
  clock: Clock,
  callersOf: (address: AgentAddress) => readonly AgentAddress[],
  graceMs: number,
  hurry: AbortSignal,
): Promise<void> {
  let deadline = clock.elapsed() + graceMs;
  /** The last command sent to each instance: finish the turn, or end at once. */
  const told = new Map<Instance, 'go' | 'end'>();
  const isStopped = ({ state }: Instance) => state.phase.name === 'stopped';
  let looked: 'not yet' | 'once' | 'again later' = 'not yet';
  // Every step of an instance asks this, also each drain that is posted here. All instances are looked at once for the
  // steps of a tick: for each step, the work would grow with the square of their number.
  const isOver = () => {
    if (looked !== 'not yet') {
      looked = 'again later';
      return false;
    }
    looked = 'once';
    setImmediate(() => {
      const isDue = looked === 'again later';
      looked = 'not yet';
      if (isDue) instances.waitsChanged();
    });
    tellAll();
    return [...instances.all()].every(isStopped);
  };
  const tellAll = () => {
    const rest = Math.max(0, deadline - clock.elapsed());
    const word = rest === 0 ? 'end' : 'go';
    for (const instance of [...instances.all()].filter((each) => !isStopped(each))) {
      if (told.get(instance) === word || (word === 'go' && isAwaited(instance))) continue;
      told.set(instance, word);
      instances.post(instance.address, { type: 'drain', graceMs: rest, afterwards: 'stop' });
    }
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
   * Returns true if another instance waits for an answer of this instance. An instance that has left its turn does not
   * wait, because it repeats its request at the next start.
   */
  function isAwaited({ address }: Instance): boolean {
    return callersOf(address).some((caller) => {
      const waiting = instances.find(caller);
      return waiting !== undefined && waiting.state.phase.name !== 'stopped';
    });
  }
}

/**
 * From now on, only turns begin that another turn waits for. Resolves when every process knows that: each has returned
 * the event that it was handed ahead, has begun it, or has exited.
 */
export async function beginNothing(instances: Instances): Promise<void> {
  instances.stopBeginning();
  const asked = new Set([...instances.all()].filter(({ state }) => state.ahead !== undefined));
  for (const { address } of asked) instances.post(address, { type: 'takeBack' });
  await instances.until(() => {
    for (const instance of asked) if (instance.state.ahead === undefined) asked.delete(instance);
    return asked.size === 0;
  });
}
