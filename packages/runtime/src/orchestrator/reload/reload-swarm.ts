/**
 * Reads the plan again, tries its changes, and puts the plan in force. Reloads and commits of changesets share this road,
 * one at a time: read, try, put the files in place, apply, done or put back. A failed change changes nothing. The failure
 * is reported to the log and to watchers, as an event with a code and a reason.
 */
import { GoondanError } from '@goondan/types';
import { checkSwarmPlan } from '../../config/check-swarm-plan.ts';
import { describeChanges } from '../../config/plan-reconcile.ts';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import type { ChangeReport, ReloadResult, ReportedChangeset } from '../../control/reload-result.ts';
import { type FrameError, toFrameError } from '../../ipc/check/frame-error.ts';
import { copyJsonObject } from '../../json/copy-json.ts';
import { defined } from '../../json/defined.ts';
import { unlessAborted } from '../../ports/unless-aborted.ts';
import { describeProblem } from '../supervision/describe-problem.ts';
import type { Clock } from '../../ports/clock.ts';
import { applyPlan, comparePlans, type PlanChanges, type ReloadDeps } from './apply-plan.ts';
import { type Trials, tryChanges } from './try-changes.ts';

export interface ReloaderDeps extends ReloadDeps {
  readonly trials: Trials;
  readonly clock: Clock;
  /** Finds the changeset that somebody is undoing. Its old files are in place, and its undo waits for this reload. */
  readonly findUndo?: () => Promise<ReportedChangeset | undefined>;
}

/** A change of the running swarm. */
export interface SwarmChange {
  /** The checked plan to put in force. */
  readonly wanted: SwarmPlan;
  /** The changeset that the change comes from. */
  readonly changeset?: ReportedChangeset;
  /** The same plan with the paths of a copy of the bundle, for the trials; `wanted` when absent. */
  readonly onTrial?: SwarmPlan;
  /**
   * Replaces the files of the bundle after the trials, and awaits `apply`. If `apply` rejects, puts the files back and rejects.
   * Once `apply` was called, the change is finished, even if the swarm stops.
   */
  readonly withFiles?: (apply: () => Promise<ReloadResult>) => Promise<ReloadResult>;
}

/** The only road to another plan. It is open to one reload or commit at a time. */
export interface ChangeRoad {
  /** Aborts when the swarm ends, or when nobody waits for the change any more. */
  readonly signal: AbortSignal;
  /** Tries a change and puts it in force. **Errors** — those of `tryChanges`, `withFiles` and `applyPlan`; nothing has changed then. */
  readonly make: (change: SwarmChange) => Promise<ReloadResult>;
  /** Adds a refusal to the reports, and returns its message. */
  readonly refused: (problem: FrameError, changeset?: ReportedChangeset) => string;
}

export type SwarmReloader = ReturnType<typeof swarmReloader>;

/**
 * Makes the reloader. `read` reads the current plan. If it throws, the reload fails with that error and changes nothing.
 */
export function swarmReloader(deps: ReloaderDeps, read: (() => Promise<SwarmPlan>) | undefined) {
  const over = new AbortController();
  const reports: ChangeReport[] = [];
  const remember = (report: Omit<ChangeReport, 'at'>) => {
    const at = deps.clock.now().toISOString();
    if (reports.unshift({ at, ...report }) > MOST_REPORTS) reports.pop();
  };
  const refused = (error: FrameError, changeset?: ReportedChangeset) => {
    const message = `Nothing was changed. ${describeProblem(error)}`;
    remember({ message, error, ...defined({ changeset }) });
    return message;
  };
  let last: Promise<unknown> = Promise.resolve();
  /** Runs `work` when all earlier work is over. `withdrawn` aborts when its caller no longer waits. */
  const onRoad = <Value>(work: (road: ChangeRoad) => Promise<Value>, withdrawn?: AbortSignal): Promise<Value> => {
    const signal = withdrawn === undefined ? over.signal : AbortSignal.any([over.signal, withdrawn]);
    const make = (change: SwarmChange) => makeChange({ ...deps, remember }, change, signal);
    const done = last.then(() => work({ signal, make, refused }));
    last = done.catch(() => undefined);
    return done;
  };
  return {
    /** The latest changes and refusals, newest first. A reload that changed nothing is not listed. */
    reports: reports as readonly ChangeReport[],
    onRoad,
    /**
     * Reloads the plan. **Errors** — `E_RELOAD_SOURCE` when the swarm was started without a way to read its plan again,
     * `E_RELOAD_SWARM` when the plan has another swarm name now, `E_SWARM_PLAN`, `E_RELOAD_FAILED` when a changed part
     * does not start or a process cannot take the change, and those of `read`. After an error nothing has changed, and the log has the reason.
     */
    reload: (): Promise<ReloadResult> => onRoad((road) => reloadOnce(deps, read, road)),
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
  deps: ReloaderDeps,
  read: Parameters<typeof swarmReloader>[1],
  { signal, make, refused }: ChangeRoad,
): Promise<ReloadResult> {
  try {
    // Rejects when the signal aborts first: reading may take any time, and the end of the swarm does not wait for it.
    const wanted = await unlessAborted(readWanted(deps, read), signal);
    return await make({ wanted, ...defined({ changeset: await deps.findUndo?.() }) });
  } catch (thrown) {
    const error: unknown = signal.aborted ? signal.reason : thrown;
    const problem = toFrameError(error, 'E_UNEXPECTED');
    const { code, message: reason, place } = problem;
    deps.swarm.report('error', 'swarm.reload_refused', refused(problem), undefined, {
      code,
      reason,
      ...(place === undefined ? {} : { place: { ...place } }),
    });
    throw error;
  }
}

/** Tries a change, replaces its files if it has any, and applies it. After an error nothing has changed. */
async function makeChange(
  deps: ReloaderDeps & { readonly remember: (report: Omit<ChangeReport, 'at'>) => void },
  { wanted, changeset, onTrial = wanted, withFiles }: SwarmChange,
  signal: AbortSignal,
): Promise<ReloadResult> {
  const { swarm, currentPlan, trials, remember } = deps;
  const changes = comparePlans(currentPlan.value, currentPlan.preview(wanted));
  const agents = inProcesses(changes, swarm);
  await tryChanges({ ...changes, agents }, currentPlan.preview(onTrial), trials, signal, (identity) =>
    swarm.report('debug', 'swarm.reload_progress', `Tries ${identity} …`),
  );
  signal.throwIfAborted();
  // No signal ends the application of replaced files, so that files and plan stay together.
  const result = await (withFiles?.(() => applyPlan(deps, wanted)) ?? applyPlan(deps, wanted, signal));
  const message = describeChanges(result);
  swarm.report('info', 'swarm.reloaded', message, undefined, copyJsonObject(result, { omitUndefined: true }));
  if (changeset?.undone === true) reportUndo(swarm, changeset);
  if (hasChanges(result) || changeset !== undefined) {
    remember({ message, agents: result.agents, ...defined({ changeset }) });
  }
  return result;
}

function reportUndo(swarm: ReloadDeps['swarm'], { id, agent, by }: ReportedChangeset): void {
  const message = `${by ?? 'A person'} has undone changeset ${id} of agent "${agent}".`;
  swarm.report('info', 'changeset.undone', message, undefined, defined({ changesetId: id, agent, by }));
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
