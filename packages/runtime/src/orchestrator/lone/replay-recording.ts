/**
 * Replays a recorded turn in a separate process, with the current agent or with changed extensions, and reports the
 * divergences and their causes. No model, tool or agent is called, and the workspace is not changed.
 */
import { GoondanError } from '@goondan/types';
import { checkSwarmPlan } from '../../config/check-swarm-plan.ts';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import { extensionDigest } from '../../config/extension-digest.ts';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import { maskSecrets } from '../../log/mask-secrets.ts';
import type { Clock } from '../../ports/clock.ts';
import { shortTurnId } from '../../ports/turn-ids.ts';
import { plansOf, type PlanUse } from '../../trace/plans-of.ts';
import type { Divergence, ReplayOutcome, ReplaySource } from '../../trace/replay.ts';
import type { RecordedRun } from '../../trace/assemble-recording.ts';
import type { RecordedHalt, Recording } from '../../trace/recording.ts';
import type { TurnSummary } from '../../trace/turn-trace.ts';
import type { KeptRecording, KeptRun } from '../../workspace/traces/read-recording.ts';
import { changeExtensions, type ExtensionChanges } from './change-extensions.ts';
import { findMissingPlans, planOfRun, type PlanOfRun, planVersions } from './plan-versions.ts';
import { runLoneAgent } from './lone-agent.ts';

export interface ReplayOptions extends ExtensionChanges {
  /** The current plan, which must contain the agent of the turn. */
  readonly plan: SwarmPlan;
  /** Other versions of the plan, for a turn that ran with more than one plan. */
  readonly otherPlans?: readonly SwarmPlan[];
  /** The recording from `readRecording`. */
  readonly kept: KeptRecording;
  /** Aborting it ends the replay early. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

/**
 * The cause of a divergence. `swapped`, `removed`: the extension was swapped or removed for this replay. `changed`: its
 * code or config differs from the recording. `follows`: the extension is the same, but reacts to another extension that
 * differs. `itself`: the extension reads something that is not recorded. `agent`: the cause is not an extension, but
 * the agent's prompt, model or tools.
 */
export type DivergenceCause = 'swapped' | 'removed' | 'changed' | 'follows' | 'itself' | 'agent';

export interface ExplainedDivergence extends Divergence {
  readonly cause: DivergenceCause;
}

export interface ReplayReport extends Omit<ReplayOutcome, 'first'> {
  readonly turn: TurnSummary;
  /** The first divergence; absent when everything matches the recording. */
  readonly divergence?: ExplainedDivergence;
  /** When extensions were changed: a divergence that also occurs without the changes, so they are not its cause. */
  readonly without?: ExplainedDivergence;
  /** The plans of the turn layers and steps, if the turn ran with more than one plan, in one process. */
  readonly plans?: readonly PlanUse[];
  /** The report of each run, for a turn that several processes ran. The other fields summarise all runs. */
  readonly runs?: readonly ReplayedRun[];
}

/** A turn as run by one process. */
export interface ReplayedRun extends Pick<RecordedRun, 'startedAt' | 'fromStep'> {
  /** How the recorded run ended. */
  readonly how: 'finished' | RecordedHalt['how'];
  readonly divergence?: ExplainedDivergence;
  readonly without?: ExplainedDivergence;
  /** The outcome of the replay; absent when this run was not replayed. */
  readonly outcome?: Omit<ReplayOutcome, 'first'>;
  /** The plans of the turn layers and steps of this run, if the turn ran with more than one plan. */
  readonly plans?: readonly PlanUse[];
  /** The reason why this run was not replayed. */
  readonly problem?: string;
}

/** The maximum number of runs to replay. If a turn has more runs, only the last ones are replayed. */
const MOST_RUNS = 8;

/**
 * Replays the turn. A turn that ran with one plan is replayed with the current plan. If it ran with several, each part is
 * replayed with its own plan.
 *
 * **Errors** — `E_SWARM_PLAN`, `E_AGENT_UNKNOWN`, `E_REPLAY_EXTENSION`, `E_REPLAY_SWAP`, `E_REPLAY_PLAN`,
 * `E_REPLAY_INCOMPLETE`, those of `runLoneAgent`.
 */
export async function replayRecording(options: ReplayOptions): Promise<ReplayReport> {
  const { kept, otherPlans = [] } = options;
  const plan = checkSwarmPlan(options.plan);
  const { agentName } = kept.turn;
  const agent = plan.agents.find((each) => each.agentName === agentName);
  if (agent === undefined) throw new GoondanError('E_AGENT_UNKNOWN', `There is no agent "${agentName}" any more.`);
  const hasPlans = hasSeveralPlans(kept);
  const versions = planVersions(hasPlans ? [plan, ...otherPlans.map(checkSwarmPlan)] : [], agentName);
  const runs: ReplayedRun[] = [];
  for (const [index, run] of kept.runs.entries()) {
    const isLast = index === kept.runs.length - 1;
    const { recording, startedAt, fromStep } = run;
    const plans = recording === undefined ? [] : plansOf(recording.chain);
    const about = { startedAt, fromStep, ...(hasPlans && plans.length > 0 && { plans }) };
    const missing = hasPlans ? findMissingPlans(plans, versions) : undefined;
    if (isLast && missing !== undefined) throw cannotLoad(kept.turn, missing);
    const isTooEarly = kept.runs.length - index > MOST_RUNS;
    const problem = run.problem ?? (isTooEarly ? `only the last ${MOST_RUNS} runs are replayed` : missing);
    if (recording === undefined || problem !== undefined) {
      runs.push({ ...about, how: recording?.halt?.how ?? 'crashed', ...(problem !== undefined && { problem }) });
      continue;
    }
    const usual = { agent, changes: [] };
    const used = hasPlans ? (planOfRun(recording, versions) ?? usual) : usual;
    refuseUnknownStates(kept, used.agent);
    const replayed = await replayRun({ ...options, plan }, { ...run, recording }, isLast, used);
    runs.push({ ...about, how: recording.halt?.how ?? 'finished', ...replayed });
  }
  const isInRuns = kept.runs.length > 1 || kept.runs.some(({ recording }) => recording?.resumePoint !== undefined);
  const { plans } = runs[0] ?? {};
  return { ...reportOf(kept.turn, runs), ...(isInRuns ? { runs } : plans && { plans }) };
}

/** Returns true if the turn ran with more than one plan, in one process or in several. */
function hasSeveralPlans({ runs }: KeptRecording): boolean {
  const plans = runs.flatMap(({ recording }) => {
    const { plan, steps = [] } = recording?.resumePoint ?? {};
    const before = [plan, ...steps.map((step) => step.plan)].filter((each) => each !== undefined);
    return recording === undefined ? [] : [...before, ...plansOf(recording.chain).map((use) => use.plan)];
  });
  return new Set(plans).size > 1;
}

function cannotLoad({ turnId }: TurnSummary, missing: string): GoondanError {
  return new GoondanError('E_REPLAY_PLAN', `Turn ${shortTurnId(turnId)} cannot be replayed: ${missing}.`);
}

/** Replays with the agent of the run, and then, if extensions are changed, with the changed agent. */
async function replayRun(
  options: ReplayOptions,
  kept: KeptRun & { readonly recording: Recording },
  isLast: boolean,
  used: PlanOfRun,
) {
  const { plan, swap = {}, without = [] } = options;
  const change = (agent: DeclaredAgent) => changeExtensions(agent, { swap, without }, plan.agents);
  const changed = {
    agent: change(used.agent),
    changes: used.changes.map(({ fromStep, agent }) => ({ fromStep, agent: change(agent) })),
  };
  const run = (as: PlanOfRun, ignored: readonly string[]) => replayAs(as, kept, isLast, ignored, options);
  const edited = editedExtensions(kept.recording, used.agent);
  const before = await run(used, []);
  const explain = (divergence: Divergence, others: ExtensionChanges): ExplainedDivergence => ({
    ...divergence,
    cause: causeOf(divergence, edited, others),
  });
  const first = before.first && explain(before.first, {});
  const replaced = [...Object.keys(swap), ...without];
  if (replaced.length === 0) return describeRun(before, first);
  const itself = first?.extension !== undefined && !replaced.includes(first.extension) ? [first.extension] : [];
  const after = await run(changed, itself);
  const divergence = after.first && explain(after.first, { swap, without });
  const known = first !== undefined && (first.extension === undefined || itself.length > 0) ? { without: first } : {};
  return { ...describeRun(after, divergence), ...known };
}

function describeRun({ first: _, ...outcome }: ReplayOutcome, divergence: ExplainedDivergence | undefined) {
  return { outcome, ...(divergence === undefined ? {} : { divergence }) };
}

/** Summarises all runs. Fields about a single run come from the first run with a divergence, or from the last run. */
function reportOf(turn: TurnSummary, runs: readonly ReplayedRun[]): ReplayReport {
  const outcomes = runs.flatMap(({ outcome }) => outcome ?? []);
  const sum = (count: (outcome: Omit<ReplayOutcome, 'first'>) => number) =>
    outcomes.reduce((total, outcome) => total + count(outcome), 0);
  const differing = runs.filter(({ divergence }) => divergence !== undefined);
  const told = differing[0] ?? runs.at(-1);
  const { divergence, outcome } = told ?? {};
  const without = runs.find((run) => run.without !== undefined)?.without;
  return {
    turn,
    ...(divergence && { divergence }),
    ...(without && { without }),
    others: sum(({ others }) => others) + Math.max(0, differing.length - 1),
    layers: sum(({ layers }) => layers),
    steps: sum(({ steps }) => steps),
    served: {
      model: sum(({ served }) => served.model),
      tool: sum(({ served }) => served.tool),
      agent: sum(({ served }) => served.agent),
      approval: sum(({ served }) => served.approval),
      ...(runs.some(({ outcome: run }) => run?.served.budget !== undefined) && {
        budget: sum(({ served }) => served.budget ?? 0),
      }),
    },
    ...(outcome?.stoppedAt && { stoppedAt: outcome.stoppedAt }),
    ...(outcome?.halted && { halted: outcome.halted }),
  };
}

/** The time limit of one replay, which is more than its layers and the start of its process may take. */
const LONGEST_MS = 120_000;

function replayAs(
  { agent, changes }: PlanOfRun,
  { recording, events, times, taken }: KeptRun & { readonly recording: Recording },
  isLast: boolean,
  ignored: readonly string[],
  { plan, kept, signal, clock }: ReplayOptions,
): Promise<ReplayOutcome> {
  const { messages: found, extensionState, turn } = kept;
  const { agentName, instanceKey } = turn;
  const messages = found.map(({ createdAt, ...message }) => ({ ...message, createdAt: createdAt.toISOString() }));
  const stateAfter = isLast ? kept.stateAfter : {};
  const replay: ReplaySource = { recording, messages, events, extensionState, stateAfter, times, taken, ignored };
  const start = { address: { agentName, instanceKey }, replay, ...(changes.length > 0 && { changes }) };
  return runLoneAgent({ plan, agent, start, signal, clock, timeoutMs: LONGEST_MS }, (message) =>
    message.type === 'replayed' ? message.outcome : undefined,
  );
}

/**
 * Throws if the state of an extension before the turn is unknown. Without its state, the extension would behave
 * differently, and the report could not explain why.
 */
function refuseUnknownStates({ turn, unknownStates }: KeptRecording, { extensions = [] }: DeclaredAgent): void {
  const unknown = extensions.find(({ resource }) => unknownStates.includes(resource.metadata.name));
  if (unknown === undefined) return;
  const problem = `the state of Extension/${unknown.resource.metadata.name} before it was too long to be kept`;
  throw new GoondanError('E_REPLAY_INCOMPLETE', `Turn ${shortTurnId(turn.turnId)} cannot be replayed: ${problem}.`);
}

/** Returns the extensions that differ from the recording, including added and removed ones. */
function editedExtensions(recording: Recording, { extensions = [], secrets = [] }: DeclaredAgent): Set<string> {
  const mask = maskSecrets(secrets);
  const now = new Map(extensions.map((each) => [each.resource.metadata.name, extensionDigest(each, mask)]));
  const then = new Map(recording.extensions.map(({ name, digest }) => [name, digest]));
  return new Set([...now.keys(), ...then.keys()].filter((name) => now.get(name) !== then.get(name)));
}

function causeOf(
  { extension }: Divergence,
  edited: ReadonlySet<string>,
  { swap = {}, without = [] }: ExtensionChanges,
): DivergenceCause {
  const isChanged = without.length + Object.keys(swap).length > 0;
  if (extension === undefined) return isChanged ? 'follows' : 'agent';
  if (Object.hasOwn(swap, extension)) return 'swapped';
  if (without.includes(extension)) return 'removed';
  if (edited.has(extension)) return 'changed';
  return edited.size > 0 || isChanged ? 'follows' : 'itself';
}
