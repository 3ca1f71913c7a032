/** Instances whose processes a test starts and ends by hand. */
import type { SwarmPlan } from '../config/swarm-plan.ts';
import type { FromAgent } from '../ipc/from-agent.ts';
import { Instances } from '../orchestrator/instances/instances.ts';
import { tellListeners } from '../orchestrator/instances/swarm-listener.ts';
import { CurrentPlan } from '../orchestrator/plan/current-plan.ts';
import type { ProcessListener } from '../orchestrator/supervision/supervise-process.ts';
import { manualClock } from './manual-clock.ts';

type Deps = ConstructorParameters<typeof Instances>[0];

/** Creates the instances of a plan. `listeners`: those of the processes so far, unless the test replaces `processes`. */
export function bareInstances(plan: Omit<SwarmPlan, 'name'>, deps: Partial<Deps> = {}) {
  const listeners: ProcessListener<FromAgent>[] = [];
  const instances = new Instances({
    clock: manualClock(),
    currentPlan: new CurrentPlan({ name: 'test', ...plan }),
    events: tellListeners(() => []),
    report: () => undefined,
    watchedKinds: () => [],
    calls: { isAwaited: () => false, isWaiting: () => false },
    held: { has: () => false, size: 0 },
    processes: {
      isShared: () => false,
      roomFor: () => 0,
      spawn(_at, _process, _options, listener) {
        listeners.push(listener);
        return { pid: listeners.length, say: () => undefined, kill: () => undefined };
      },
    },
    ...deps,
  });
  return { instances, listeners };
}

/** Lets some ticks pass. */
export async function ticks(): Promise<void> {
  for (let tick = 0; tick < 5; tick++) await new Promise((resolve) => setImmediate(resolve));
}
