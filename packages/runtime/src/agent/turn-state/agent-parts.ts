/**
 * The parts of an agent that turns need, assembled once when the agent starts. A change of the plan exchanges `plan`, and
 * the contents of `layers` and `tools`, in one move between two steps; everything else stays.
 */
import type { AgentAddress, ConnectionCard, ModelParams, OutputDemand, RuntimeView } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import type { Activity } from './activity.ts';
import type { CacheWatch } from './cache-watch.ts';
import type { Engine } from '../seams/engine.ts';
import type { Approver } from '../seams/approver.ts';
import type { Changesets } from '../seams/changesets.ts';
import type { AgentFiles } from '../files/agent-files.ts';
import type { CallCounters } from '../seams/counters.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import type { LlmView } from '../conversation/llm-view.ts';
import type { EventBus } from '../extension/event-bus.ts';
import type { ExtensionStates } from '../extension/extension-states.ts';
import type { ExtensionStatuses } from '../extension/extension-statuses.ts';
import type { SaveStates } from '../extension/save-states.ts';
import type { LocateThrown } from '../../log/locate-thrown.ts';
import type { RunningCode } from '../../ipc/running-code.ts';
import type { Log } from '../../log/log-sink.ts';
import type { SecretMask } from '../../log/mask-secrets.ts';
import type { ModelSource } from '../model/model-port.ts';
import type { CleanMessages } from '../secrets/clean-messages.ts';
import type { LayerRegistry } from '../pipeline/layer-registry.ts';
import type { TurnPolicy } from '../../config/turn-policy.ts';
import type { ToolRegistry } from '../tool/tool-registry.ts';

/** The fields of an agent that a change of its plan exchanges. A running step sees one plan from start to end. */
export interface PlanInForce {
  /** The parts of `ctx.runtime` that only a change of the plan exchanges; frozen. */
  readonly described: Pick<RuntimeView, 'agent' | 'model'>;
  /** The digest of the agent's plan without secrets, computed on first use. */
  readonly digest: () => string | undefined;
  readonly systemPrompt: string | undefined;
  readonly modelRef: string;
  readonly params: ModelParams;
  /** The schema that the answers of the agent must fit, unless the event demands another one. */
  readonly output: OutputDemand | undefined;
  readonly policy: TurnPolicy;
  /** Opens a model by its reference when it is first used. */
  readonly openModel: ModelSource;
}

export interface AgentParts {
  readonly address: AgentAddress;
  plan: PlanInForce;
  /** Returns the plan of the next step: the one that waits for the end of a step, or the one in force. */
  readonly newestPlan: () => PlanInForce;
  /**
   * Puts a change in place that waits for the end of a step, and returns true if there was one. Called between two
   * steps. Never throws.
   */
  readonly changeBetweenSteps: () => boolean;
  readonly workdir: string;
  readonly bundleFolder: string;
  readonly layers: LayerRegistry;
  readonly tools: ToolRegistry;
  readonly states: ExtensionStates;
  readonly saveStates: SaveStates;
  readonly bus: EventBus;
  readonly statuses: ExtensionStatuses;
  readonly store: ConversationStore;
  /** The images and files of the conversation. */
  readonly files: AgentFiles;
  readonly engine: Engine;
  /** Lists the connections whose events can reach this agent. */
  readonly connections: () => readonly ConnectionCard[];
  readonly approver: Approver;
  readonly changesets: Changesets;
  readonly counters: CallCounters;
  readonly activity: Activity;
  /** Notes which code of the bundle runs. */
  readonly running: RunningCode;
  readonly clock: Clock;
  readonly mask: SecretMask;
  readonly locate: LocateThrown;
  /** Masks secrets in messages for models, with a cache. */
  readonly cleanMessages: CleanMessages;
  /** Finds the reason when a provider's cache was lost. */
  readonly cacheWatch: CacheWatch;
  readonly log: Log;
  /** The logger for tool handlers. Its lines name no extension. */
  readonly toolLogger: Console;
  /** The model's view of the conversation after the last turn. It is valid while this process is the only writer. */
  warm: { readonly version: number; readonly view: LlmView } | undefined;
}
