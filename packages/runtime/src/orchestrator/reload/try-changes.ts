/**
 * Starts the changed parts of a reload on trial, beside the running parts, before anything is replaced (D-06).
 *
 * Invariants:
 * 1. Every new or changed agent and connection is tried, whether or not it has a process at the moment.
 * 2. At most `AT_ONCE` trials run at a time, in addition to `policy.maxProcesses`; each has the time limit of a normal
 *    start.
 * 3. When `tryChanges` settles, no trial is running: the first failure ends the other trials.
 */
import { GoondanError } from '@goondan/types';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import type { PlanReconcile } from '../../config/plan-reconcile.ts';
import type { ConnectionPlan } from '../../config/swarm-plan.ts';
import type { Plan } from '../plan/current-plan.ts';
import { namesOf } from './apply-plan.ts';

/**
 * Starts one part, and ends it when it is ready. Rejects when the part does not become ready, or `signal` aborts; in
 * either case no process is left.
 */
export interface Trials {
  agent(agent: DeclaredAgent, plan: Plan, signal: AbortSignal): Promise<unknown>;
  connection(connection: ConnectionPlan, plan: Plan, signal: AbortSignal): Promise<unknown>;
}

const AT_ONCE = 4;

/**
 * Runs the trials. **Errors** — `E_RELOAD_FAILED`, naming the part and the reason, unless `signal` ended the trials.
 */
export async function tryChanges(
  { changed, added }: Pick<PlanReconcile, 'changed' | 'added'>,
  plan: Plan,
  trials: Trials,
  signal: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const waiting = partsToTry([...changed, ...added], plan, trials);
  let failure: GoondanError | undefined;
  const lanes = Array.from({ length: AT_ONCE }, async () => {
    for (let next = waiting.shift(); next !== undefined && !either.aborted; next = waiting.shift()) {
      const { identity } = next;
      await next.start(either).catch((error: unknown) => {
        failure ??= cannotStart(identity, error, plan);
        over.abort();
      });
    }
  });
  await Promise.all(lanes);
  if (failure !== undefined) throw failure;
}

function partsToTry(identities: readonly string[], plan: Plan, trials: Trials) {
  const agentNames = namesOf('Agent', identities);
  const agents = [...plan.agents.values()].filter(({ agentName }) => agentNames.has(agentName));
  const connectionNames = namesOf('Connection', identities);
  const connections = (plan.plan.connections ?? []).filter(({ connection }) => connectionNames.has(connection));
  return [
    ...agents.map((agent) => ({
      identity: `Agent/${agent.agentName}`,
      start: (signal: AbortSignal) => trials.agent(agent, plan, signal),
    })),
    ...connections.map((each) => ({
      identity: `Connection/${each.connection}`,
      start: (signal: AbortSignal) => trials.connection(each, plan, signal),
    })),
  ];
}

function cannotStart(identity: string, error: unknown, { mask }: Plan): GoondanError {
  const reason = mask(GoondanError.is(error) ? `${error.code}: ${error.message}` : String(error));
  const message = `${identity} does not start with the changed bundle. ${reason}`;
  const failure = new GoondanError('E_RELOAD_FAILED', message, { cause: error });
  const { place } = GoondanError.is(error) ? error : {};
  return place === undefined ? failure : Object.assign(failure, { place });
}
