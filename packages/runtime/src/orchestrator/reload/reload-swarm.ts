/**
 * Reads the plan again, tries its changes, and puts the plan in force; one reload at a time. A failed reload changes
 * nothing. The failure is reported to the log and to watchers, as an event with a code and a reason.
 */
import { GoondanError } from '@goondan/types';
import { checkSwarmPlan } from '../../config/check-swarm-plan.ts';
import { describeChanges } from '../../config/plan-reconcile.ts';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import type { ChangeReport, ReloadResult } from '../../control/reload-result.ts';
import { toFrameError } from '../../ipc/check/frame-error.ts';
import { copyJsonObject } from '../../json/copy-json.ts';
import { unlessAborted } from '../../ports/unless-aborted.ts';
import { describeProblem } from '../supervision/describe-problem.ts';
import type { Clock } from '../../ports/clock.ts';
import { applyPlan, comparePlans, type PlanChanges, type ReloadDeps } from './apply-plan.ts';
import { type Trials, tryChanges } from './try-changes.ts';

export interface ReloaderDeps extends ReloadDeps {
  readonly trials: Trials;
  readonly clock: Clock;
}

/**
 * Makes the reloader. `read` reads the current plan. If it throws, the reload fails with that error and changes nothing.
 */
export function swarmReloader(deps: ReloaderDeps, read: (() => Promise<SwarmPlan>) | undefined) {
  const over = new AbortController();
  const reports: ChangeReport[] = [];
  const remember = (report: ChangeReport) => void (reports.unshift(report) > MOST_REPORTS && reports.pop());
  let last: Promise<unknown> = Promise.resolve();
  return {
    /** The latest changes and refusals, newest first. A reload that changed nothing is not listed. */
    reports: reports as readonly ChangeReport[],
    /**
     * Reloads the plan. **Errors** — `E_RELOAD_SOURCE` when the swarm was started without a way to read its plan again,
     * `E_RELOAD_SWARM` when the plan has another swarm name now, `E_SWARM_PLAN`, `E_RELOAD_FAILED` when a changed part
     * does not start or a process cannot take the change, and those of `read`. After an error nothing has changed, and the log has the reason (L-05, D-07).
     */
    reload(): Promise<ReloadResult> {
      const reload = last.then(() => reloadOnce({ ...deps, remember }, read, over.signal));
      last = reload.catch(() => undefined);
      return reload;
    },
    /** Aborts a running reload when the swarm ends. Resolves when no trial process is left. */
    async close(): Promise<void> {
      over.abort(new GoondanError('E_SWARM_STOPPED', 'The swarm was stopped before the reload was done.'));
      await last;
    },
  };
}

/** The number of changes and refusals that the status of the swarm lists. */
const MOST_REPORTS = 10;

async function reloadOnce(
  deps: ReloaderDeps & { readonly remember: (report: ChangeReport) => void },
  read: Parameters<typeof swarmReloader>[1],
  signal: AbortSignal,
): Promise<ReloadResult> {
  const { swarm, currentPlan, trials, clock, remember } = deps;
  try {
    // Rejects when the signal aborts first: reading may take any time, and the end of the swarm does not wait for it.
    const wanted = await unlessAborted(readWanted(deps, read), signal);
    const next = currentPlan.preview(wanted);
    const changes = comparePlans(currentPlan.value, next);
    await tryChanges({ ...changes, agents: inProcesses(changes, swarm) }, next, trials, signal, (identity) =>
      swarm.report('debug', 'swarm.reload_progress', `Tries ${identity} …`),
    );
    signal.throwIfAborted();
    const result = await applyPlan(deps, wanted, signal);
    const message = describeChanges(result);
    swarm.report('info', 'swarm.reloaded', message, undefined, copyJsonObject(result, { omitUndefined: true }));
    if (hasChanges(result)) remember({ at: clock.now().toISOString(), message, agents: result.agents });
    return result;
  } catch (thrown) {
    const error: unknown = signal.aborted ? signal.reason : thrown;
    const problem = toFrameError(error, 'E_UNEXPECTED');
    const { code, message: reason, place } = problem;
    const message = `Nothing was changed. ${describeProblem(problem)}`;
    remember({ at: clock.now().toISOString(), message, error: problem });
    swarm.report('error', 'swarm.reload_refused', message, undefined, {
      code,
      reason,
      ...(place === undefined ? {} : { place: { ...place } }),
    });
    throw error;
  }
}

/** Returns the changes of the agents that have a process now. */
function inProcesses({ agents }: PlanChanges, { instances }: ReloadDeps['swarm']): PlanChanges['agents'] {
  const running = [...instances.all()].filter(({ hasProcess }) => hasProcess);
  const names = new Set(running.map(({ address }) => address.agentName));
  return new Map([...agents].filter(([agentName]) => names.has(agentName)));
}

function hasChanges({ changed, added, removed }: ReloadResult): boolean {
  return changed.length + added.length + removed.length > 0;
}

/** Adds the reason that only a running swarm has: it keeps its environment and its name. */
function explainRefusal(error: unknown, swarm: string): unknown {
  if (!GoondanError.is(error)) return error;
  const { code, message } = error;
  if (code === 'E_ENV_MISSING') {
    const suggestion =
      'Nothing has changed. A running swarm has the environment of its start: set the variable in the `.env` of the bundle, or stop the swarm and start it again.';
    return new GoondanError(code, message, { suggestion, cause: error });
  }
  if (code === 'E_SWARM_UNKNOWN') {
    const suggestion = `Nothing has changed. A running swarm cannot change its name: name it "${swarm}" again, or stop the swarm and start it under its new name.`;
    return new GoondanError(code, message, { suggestion, cause: error });
  }
  return error;
}

async function readWanted({ currentPlan }: ReloadDeps, read: Parameters<typeof swarmReloader>[1]): Promise<SwarmPlan> {
  if (read === undefined) {
    throw new GoondanError('E_RELOAD_SOURCE', 'This swarm was started without a way to read its plan again.');
  }
  const { name } = currentPlan.value.plan;
  const wanted = checkSwarmPlan(
    await read().catch((error: unknown) => {
      throw explainRefusal(error, name);
    }),
  );
  if (wanted.name === name) return wanted;
  throw new GoondanError('E_RELOAD_SWARM', `The swarm that runs is "${name}", and now it is called "${wanted.name}".`);
}
