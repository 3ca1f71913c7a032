/**
 * Replays a recorded turn in a process of its own, as the agent is now or with other extensions, and says what did
 * something else and why. No model, no tool and no agent is reached, and nothing of the workspace is changed.
 */
import { GoondanError } from '@goondan/types';
import { checkSwarmPlan } from '../config/check-swarm-plan.ts';
import type { DeclaredAgent } from '../config/declared-agent.ts';
import { extensionDigest } from '../config/extension-digest.ts';
import type { SwarmPlan } from '../config/swarm-plan.ts';
import { maskSecrets } from '../log/mask-secrets.ts';
import type { Clock } from '../ports/clock.ts';
import type { Divergence, ReplayOutcome, ReplayStart } from '../trace/replay.ts';
import type { TurnSummary } from '../trace/turn-trace.ts';
import type { KeptRecording } from '../workspace/traces/read-recording.ts';
import { changeExtensions, type ExtensionChanges } from './change-extensions.ts';
import { runLoneAgent } from './lone-agent.ts';

export interface ReplayOptions extends ExtensionChanges {
  /** As it is now: the agent of the turn is one of its agents. */
  readonly plan: SwarmPlan;
  /** From `readRecording`. */
  readonly kept: KeptRecording;
  /** Ends it early. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

/**
 * Why something else was done. `swapped`, `removed`: the extension was, for this replay. `changed`: its code or its
 * config is not what was recorded. `follows`: it is the same, but another extension is not, and this one noticed.
 * `itself`: it reads something that is not recorded. `agent`: no extension, but the agent's prompt, model or tools.
 */
export type DivergenceCause = 'swapped' | 'removed' | 'changed' | 'follows' | 'itself' | 'agent';

export interface ExplainedDivergence extends Divergence {
  readonly cause: DivergenceCause;
}

export interface ReplayReport extends Omit<ReplayOutcome, 'first'> {
  readonly turn: TurnSummary;
  /** The first; absent when everything was done as it was then. */
  readonly divergence?: ExplainedDivergence;
  /** With other extensions: what did something else without them already. It is not their doing. */
  readonly without?: ExplainedDivergence;
}

/**
 * **Errors** — `E_SWARM_PLAN`, `E_AGENT_UNKNOWN`, `E_REPLAY_EXTENSION`, `E_REPLAY_SWAP`, `E_REPLAY_INCOMPLETE`, those of
 * `runLoneAgent`.
 */
export async function replayRecording(options: ReplayOptions): Promise<ReplayReport> {
  const { kept, swap = {}, without = [] } = options;
  const plan = checkSwarmPlan(options.plan);
  const { agentName } = kept.turn;
  const agent = plan.agents.find((each) => each.agentName === agentName);
  if (agent === undefined) throw new GoondanError('E_AGENT_UNKNOWN', `There is no agent "${agentName}" any more.`);
  refuseUnknownStates(kept, agent);
  const changed = changeExtensions(agent, { swap, without }, plan.agents);
  const run = (as: DeclaredAgent, ignored: readonly string[]) => replayAs(as, ignored, { ...options, plan });
  const edited = editedExtensions(kept, agent);
  const before = await run(agent, []);
  const explain = (divergence: Divergence, others: ExtensionChanges): ExplainedDivergence => ({
    ...divergence,
    cause: causeOf(divergence, edited, others),
  });
  const first = before.first && explain(before.first, {});
  if (changed === agent) return reportOf(kept, before, first);
  const replaced = [...Object.keys(swap), ...without];
  const itself = first?.extension !== undefined && !replaced.includes(first.extension) ? [first.extension] : [];
  const after = await run(changed, itself);
  const divergence = after.first && explain(after.first, { swap, without });
  const known = first !== undefined && (first.extension === undefined || itself.length > 0) ? { without: first } : {};
  return { ...reportOf(kept, after, divergence), ...known };
}

function reportOf(
  { turn }: KeptRecording,
  { first: _, ...outcome }: ReplayOutcome,
  divergence: ExplainedDivergence | undefined,
): ReplayReport {
  return { turn, ...outcome, ...(divergence === undefined ? {} : { divergence }) };
}

/** More than the layers of one replay may take, and its process's start. */
const LONGEST_MS = 120_000;

function replayAs(
  agent: DeclaredAgent,
  ignored: readonly string[],
  { plan, kept, signal, clock }: ReplayOptions,
): Promise<ReplayOutcome> {
  const { recording, messages, extensionState, stateAfter, times, turn } = kept;
  const { agentName, instanceKey } = turn;
  const stored = messages.map(({ createdAt, ...message }) => ({ ...message, createdAt: createdAt.toISOString() }));
  const replay: ReplayStart = { recording, messages: stored, extensionState, stateAfter, times, ignored };
  const start = { address: { agentName, instanceKey }, replay };
  return runLoneAgent({ plan, agent, start, signal, clock, timeoutMs: LONGEST_MS }, (message) =>
    message.type === 'replayed' ? message.outcome : undefined,
  );
}

/** Without what it kept an extension would do something else, and nobody could tell why. */
function refuseUnknownStates({ turn, unknownStates }: KeptRecording, { extensions = [] }: DeclaredAgent): void {
  const unknown = extensions.find(({ resource }) => unknownStates.includes(resource.metadata.name));
  if (unknown === undefined) return;
  const problem = `the state of Extension/${unknown.resource.metadata.name} before it was too long to be kept`;
  throw new GoondanError('E_REPLAY_INCOMPLETE', `${turn.turnId} cannot be replayed: ${problem}.`);
}

/** Extensions that are not what they were when the turn was recorded, those that came and went among them. */
function editedExtensions({ recording }: KeptRecording, { extensions = [], secrets = [] }: DeclaredAgent): Set<string> {
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
