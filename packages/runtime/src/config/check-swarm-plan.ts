/** Checks a plan before anything is started, and lists all its problems. */
import { GoondanError } from '@goondan/types';
import { copyJsonObject, NotJson } from '../json/copy-json.ts';
import { readDemand } from '../json/read-demand.ts';
import { closestName } from './closest-name.ts';
import { findGlobProblem } from './find-glob-problem.ts';
import type { IngressRule } from './ingress-rule.ts';
import { LARGEST_SHARE } from './isolation.ts';
import { identityOf } from './reconcile-agent.ts';
import { foldCase, resourceNamePattern } from './resource-name.ts';
import type { SwarmPlan } from './swarm-plan.ts';
import { MOST_SPARES, type SwarmPolicy } from './swarm-policy.ts';

/** Returns a copy of the plan if it is valid. **Errors** — `E_SWARM_PLAN`. */
export function checkSwarmPlan(given: SwarmPlan): SwarmPlan {
  const plan = copyPlan(given);
  const problems = [...(findMissing(plan) ?? findProblems(plan))];
  if (problems.length === 0) return plan;
  throw refusal(problems.join('; '));
}

function copyPlan(given: SwarmPlan): SwarmPlan {
  try {
    // Safe: the copy of a plan is a plan.
    return copyJsonObject(given, { omitUndefined: true }) as unknown as SwarmPlan;
  } catch (error) {
    if (error instanceof NotJson) throw refusal(`a plan is JSON, but ${error.message}`);
    throw error;
  }
}

function refusal(problem: string): GoondanError {
  return new GoondanError('E_SWARM_PLAN', `The swarm cannot be started: ${problem}.`);
}

/**
 * Lists required fields that are missing, because a program in JavaScript may leave out anything. Returns `undefined`
 * when all are present.
 */
function findMissing(plan: { readonly name?: unknown; readonly agents?: unknown }): string[] | undefined {
  const { name, agents } = plan;
  const missing = [
    ...(typeof name === 'string' ? [] : ['`name` is not a text']),
    ...(Array.isArray(agents) && agents.every(hasName) ? [] : ['`agents` is not a list of agents with an `agentName`']),
  ];
  return missing.length === 0 ? undefined : missing;
}

function hasName(agent: unknown): boolean {
  return typeof agent === 'object' && agent !== null && 'agentName' in agent && typeof agent.agentName === 'string';
}

function* findProblems(plan: SwarmPlan): Generator<string> {
  if (!resourceNamePattern.test(plan.name)) yield `"${plan.name}" is not a name for a swarm`;
  const names = plan.agents.map(({ agentName }) => agentName);
  if (names.length === 0) yield 'it has no agent';
  yield* findNameProblems('agent', names);
  for (const agent of plan.agents) {
    const { agentName, models, modelRef, mayAsk } = agent;
    const refs = Object.keys(models ?? {});
    if (refs.length === 0) yield `agent "${agentName}" has no model`;
    if (modelRef !== undefined && !refs.includes(modelRef)) yield `agent "${agentName}" has no ${modelRef}`;
    yield* findMayAskProblems(agentName, mayAsk, names);
    yield* findIsolationProblems(agent);
    yield* findOutputProblems(agent);
  }
  const { entryAgent, connections = [], policy = {} } = plan;
  if (entryAgent !== undefined && !names.includes(entryAgent))
    yield `its entry agent "${entryAgent}" is not one of its agents`;
  yield* findNameProblems(
    'connection',
    connections.map(({ connection }) => connection),
  );
  for (const { connection, rules } of connections) yield* findRuleProblems(connection, rules, names);
  yield* findPolicyProblems(policy);
}

function* findMayAskProblems(agentName: string, mayAsk: unknown, agents: readonly string[]): Generator<string> {
  if (mayAsk === undefined) return;
  if (!Array.isArray(mayAsk)) return yield `\`mayAsk\` of agent "${agentName}" is not a list of names`;
  for (const name of mayAsk) {
    if (typeof name === 'string' && agents.includes(name)) continue;
    const meant = typeof name === 'string' ? closestName(name, agents) : undefined;
    const hint = meant === undefined ? '' : ` (did you mean "${meant}"?)`;
    yield `agent "${agentName}" may ask ${JSON.stringify(name)}, which the swarm does not have${hint}`;
  }
}

function* findOutputProblems({ agentName, output }: SwarmPlan['agents'][number]): Generator<string> {
  try {
    if (output !== undefined) readDemand(output);
  } catch (error) {
    if (!GoondanError.is(error)) throw error;
    yield `agent "${agentName}": ${error.message.replace(/\.$/, '')}`;
  }
}

/** A program in JavaScript may pass anything. */
function* findIsolationProblems(agent: SwarmPlan['agents'][number]): Generator<string> {
  const { agentName, isolation, maxInstances }: { agentName: string; isolation?: unknown; maxInstances?: unknown } =
    agent;
  if (isolation !== undefined && isolation !== 'agent')
    yield `\`isolation\` of agent "${agentName}" is ${JSON.stringify(isolation)}, but must be "agent" or absent`;
  const exclusive = [...(agent.extensions ?? []), ...(agent.tools ?? [])].find((part) => part.exclusive === true);
  if (isolation === 'agent' && exclusive !== undefined)
    yield `conversations of agent "${agentName}" cannot share a process, because ${identityOf(exclusive)} is exclusive`;
  if (maxInstances === undefined) return;
  const isValid = Number.isInteger(maxInstances) && Number(maxInstances) >= 1 && Number(maxInstances) <= LARGEST_SHARE;
  if (!isValid)
    yield `\`maxInstances\` of agent "${agentName}" is ${JSON.stringify(maxInstances)}, but must be an integer from 1 to ${LARGEST_SHARE}`;
}

function* findNameProblems(kind: string, names: readonly string[]): Generator<string> {
  for (const name of names)
    if (!resourceNamePattern.test(name)) yield `"${name}" is not a name for ${kind === 'agent' ? 'an' : 'a'} ${kind}`;
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) yield `two ${kind}s are called "${twice}"`;
  for (const [index, name] of names.entries()) {
    const alike = names.slice(0, index).find((other) => other !== name && foldCase(other) === foldCase(name));
    if (alike !== undefined) yield `the ${kind}s "${alike}" and "${name}" differ in capital letters only`;
  }
}

function* findRuleProblems(
  connection: string,
  rules: readonly IngressRule[],
  agents: readonly string[],
): Generator<string> {
  if (rules.length === 0) yield `connection "${connection}" has no ingress rule`;
  for (const { route } of rules) {
    const { agentRef } = route;
    if (agentRef === undefined) continue;
    const name = typeof agentRef === 'string' ? agentRef.replace(/^Agent\//, '') : agentRef.name;
    if (!agents.includes(name))
      yield `a rule of connection "${connection}" names the agent "${name}", which the swarm does not have`;
  }
}

/** The lowest valid value of each numeric limit in a policy. */
const leastNumbers = {
  maxProcesses: 1,
  maxKept: 0,
  startTimeoutMs: 1,
  spares: 0,
  maxStepsPerTurn: 1,
  maxStepRetries: 0,
  requestTimeoutMs: 1,
  queueTimeoutMs: 1,
  toolTimeoutMs: 1,
  modelTimeoutMs: 1,
  turnTimeoutMs: 1,
  crashesBeforeDeadLetter: 1,
} as const satisfies Partial<Record<keyof SwarmPolicy, number>>;

function* findPolicyProblems(policy: SwarmPolicy): Generator<string> {
  for (const [name, least] of Object.entries(leastNumbers)) {
    yield* findNumberProblem(name, policy[name as keyof typeof leastNumbers], least);
  }
  const { restart = {}, idle = {}, heartbeat = {}, shutdown = {}, trace = 'on', spares = 0 } = policy;
  if (spares > MOST_SPARES) yield `policy.spares is ${spares}, but must be at most ${MOST_SPARES}`;
  if (trace !== 'on' && trace !== 'off') yield `policy.trace is ${JSON.stringify(trace)}, but must be "on" or "off"`;
  for (const [name, value] of Object.entries(restart)) yield* findNumberProblem(`restart.${name}`, value, 0);
  for (const [name, value] of Object.entries(heartbeat)) yield* findNumberProblem(`heartbeat.${name}`, value, 1);
  yield* findNumberProblem('idle.hibernateAfterSeconds', idle.hibernateAfterSeconds ?? undefined, 0);
  yield* findNumberProblem('shutdown.gracePeriodSeconds', shutdown.gracePeriodSeconds, 0);
  yield* findChangesProblems(policy.changes);
}

/** A program in JavaScript may pass anything. */
function* findChangesProblems({
  allow = [],
  approve = true,
}: { readonly allow?: unknown; readonly approve?: unknown } = {}): Generator<string> {
  if (typeof approve !== 'boolean')
    yield `policy.changes.approve is ${JSON.stringify(approve)}, but must be true or false`;
  if (!Array.isArray(allow)) return yield 'policy.changes.allow is not a list of globs';
  for (const glob of allow as readonly unknown[]) {
    const problem = typeof glob === 'string' ? findGlobProblem(glob) : 'is not a text';
    if (problem !== undefined) yield `${JSON.stringify(glob)} in policy.changes.allow ${problem}`;
  }
}

function* findNumberProblem(name: string, value: unknown, least: number): Generator<string> {
  if (value === undefined || (typeof value === 'number' && Number.isFinite(value) && value >= least)) return;
  yield `policy.${name} is ${JSON.stringify(value)}, but must be a number of at least ${least}`;
}
