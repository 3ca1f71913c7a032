/** Lets the agents of a running swarm change its bundle, and deletes expired changesets. */
import { GoondanError } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import type { CurrentPlan } from '../plan/current-plan.ts';
import type { SwarmReloader } from '../reload/reload-swarm.ts';
import type { SwarmAgents } from '../swarm/swarm-agents.ts';
import { ChangesetRequests } from './changeset-requests.ts';
import type { ChangesetSource } from './examine-changeset.ts';
import { recordDenial } from './record-denial.ts';

export interface ChangesetDeps {
  readonly currentPlan: CurrentPlan;
  readonly swarm: Pick<SwarmAgents, 'listen' | 'instances' | 'questions' | 'report'>;
  readonly reloader: Pick<SwarmReloader, 'onRoad'>;
  readonly clock: Clock;
}

const SWEEP_MS = 3_600_000;

/**
 * Begins to answer requests. Without a `source`, every request is rejected. `close` aborts the work on requests and
 * waits until each has its answer.
 */
export function serveChangesets(deps: ChangesetDeps, source: ChangesetSource | undefined): { close(): Promise<void> } {
  const { currentPlan, swarm, reloader, clock } = deps;
  const requests = new ChangesetRequests({
    say: (at, message) => swarm.instances.find(at)?.say(message),
    answer: async (asked) => {
      if (source === undefined) {
        throw new GoondanError('E_CHANGESET_SOURCE', 'This swarm was not started from the folder of a bundle.');
      }
      const { questions } = swarm;
      // Imported with the first request, because most agents never make one.
      const { answerRequest } = await import('./answer-request.ts');
      return answerRequest(
        { ...source, currentPlan, reloader, questions, clock, report: (...line) => swarm.report(...line) },
        asked,
      );
    },
  });
  swarm.listen(requests);
  if (source === undefined) return requests;
  const { store } = source;
  let denials: Promise<unknown> = Promise.resolve();
  swarm.listen({
    decided(question, outcome) {
      const denial = recordDenial({ store, report: (...line) => swarm.report(...line) }, question, outcome);
      denials = Promise.all([denials, denial]);
    },
  });
  const sweeps = sweepHourly(source, deps);
  return {
    async close() {
      await Promise.all([sweeps.close(), requests.close(), denials]);
    },
  };
}

/** Deletes expired changesets now and every hour. */
function sweepHourly({ store }: ChangesetSource, { clock, swarm }: ChangesetDeps): { close(): Promise<void> } {
  let callOff = () => {};
  let last = Promise.resolve();
  const sweep = () => {
    callOff = clock.after(SWEEP_MS, sweep);
    last = store.sweep().catch((error: unknown) => {
      swarm.report('warn', 'changeset.not_swept', `Expired changesets could not be deleted: ${String(error)}`);
    });
  };
  sweep();
  return {
    async close() {
      callOff();
      await last;
    },
  };
}
