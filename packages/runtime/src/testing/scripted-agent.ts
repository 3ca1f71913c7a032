/**
 * One agent on the scripted model, in this process. It really runs extensions and tools, and shows everything they did.
 */
import {
  type AgentEvent,
  type ConnectionCard,
  type ExtensionRegister,
  type JsonObject,
  type Message,
  type MiddlewareKind,
  type RuntimeEventName,
  type RuntimeEvents,
  type TurnDelta,
  textOf,
} from '@goondan/types';
import type { AgentPlan } from '../agent/start/agent-plan.ts';
import type { Engine } from '../agent/seams/engine.ts';
import type { Approver } from '../agent/seams/approver.ts';
import type { Changesets } from '../agent/seams/changesets.ts';
import type { ConversationStore } from '../agent/conversation/conversation-store.ts';
import type { AgentBlobs } from '../store/blobs.ts';
import { memoryStore } from '../agent/conversation/memory-store.ts';
import type { ExtensionDeclaration } from '../agent/extension/load-extension.ts';
import type { LogLine } from '../ports/log-line.ts';
import type { Model } from '../agent/model/model-port.ts';
import type { Tier } from '../config/declared-extension.ts';
import type { RunningAgent } from '../agent/start/start-agent.ts';
import type { TurnOptions } from '../agent/turn/run-turn.ts';
import type { TurnOutcome } from '../ports/turn-outcome.ts';
import { type Clock, systemClock } from '../ports/clock.ts';
import { requireBun } from '../ports/is-bun.ts';
import type { ChainRecord } from '../trace/turn-trace.ts';
import { recordTurn } from '../trace/record-turn.ts';
import { type RecordedRequest, recordRequests } from './record-requests.ts';
import type { ScriptedRule } from './scripted-rule.ts';

export interface ScriptedAgentOptions extends Partial<AgentPlan> {
  /** The rules of the model. When absent, the model says `You said: …`. */
  readonly script?: readonly ScriptedRule[];
  /** A model to use instead of a script. */
  readonly model?: Model;
  readonly store?: ConversationStore;
  /** Keeps the bytes of images and files; in memory when absent. */
  readonly blobs?: AgentBlobs;
  readonly engine?: Engine;
  /** The connections in `ctx.runtime`; none when absent. */
  readonly connections?: readonly ConnectionCard[];
  /** The approver for tool calls; none when absent. See `fakeApprover`. */
  readonly approver?: Approver;
  /** Answers `ctx.bundle` of tools; none when absent. See `fakeChangesets`. */
  readonly changesets?: Changesets;
  readonly clock?: Clock;
}

/** One turn, and everything that was observed during the turn. */
export interface TestedTurn extends TurnOutcome {
  /** The text of the answer. */
  readonly text: string;
  readonly deltas: readonly TurnDelta[];
  /** The chains and layers of the turn, nested. */
  readonly trace: ChainRecord | undefined;
}

/** The names of runtime events about turns, steps and tool calls, each of which is a span. */
type SpanEventName = Exclude<RuntimeEventName, 'extension.status'>;

/** A runtime event that was published. */
export type ToldEvent = { [Name in SpanEventName]: { name: Name; payload: RuntimeEvents[Name] } }[SpanEventName];

export interface ScriptedAgent {
  readonly agent: RunningAgent;
  readonly store: ConversationStore;
  /** Requests to the model, in order. */
  readonly requests: readonly RecordedRequest[];
  /** Runtime events so far. */
  readonly told: readonly ToldEvent[];
  readonly logs: readonly LogLine[];
  /** Runs one turn for an input. Without an input, no message is appended. */
  say(input?: string, options?: TurnOptions & { event?: Partial<AgentEvent> }): Promise<TestedTurn>;
  /** Returns the committed conversation. */
  messages(): Promise<readonly Message[]>;
  /** Returns the committed state of an extension; undefined when it has none. */
  stateOf(extension: string): Promise<unknown>;
  /** Returns `extension/name` of each layer, outermost first. */
  layers(kind: MiddlewareKind): string[];
  close(graceMs?: number): Promise<void>;
}

const runtimeEvents: readonly SpanEventName[] = [
  'turn.started',
  'turn.steered',
  'turn.completed',
  'turn.failed',
  'step.started',
  'step.completed',
  'step.failed',
  'tool.called',
  'tool.completed',
  'tool.failed',
  'approval.asked',
  'approval.decided',
  'limit.reached',
  'limit.waited',
  'changeset.commit',
  'changeset.rejected',
  'changeset.error',
];

// Loaded once, because a test may start thousands of agents.
let parts: ReturnType<typeof loadParts> | undefined;

function loadParts() {
  return Promise.all([
    import('../agent/start/start-agent.ts'),
    import('../agent/model/scripted/open-scripted-model.ts'),
  ]);
}

/**
 * Starts the agent. **Errors** — `E_NEEDS_BUN` in Node.
 *
 * @example const agent = await scriptedAgent({ extensions: [extension('polite', register)] })
 */
export async function scriptedAgent(options: ScriptedAgentOptions = {}): Promise<ScriptedAgent> {
  requireBun('scriptedAgent', 'Run the tests of extensions and tools with `bun test`.');
  const [{ startAgent }, { openScriptedModel }] = await (parts ??= loadParts());
  const {
    script = [{ say: 'You said: {{input}}' }],
    model,
    store = memoryStore(),
    blobs,
    engine,
    connections = [],
    approver,
    changesets,
    clock = systemClock,
    ...plan
  } = options;
  const requests: RecordedRequest[] = [];
  const told: ToldEvent[] = [];
  const logs: LogLine[] = [];
  const scripted = recordRequests(model ?? openScriptedModel({ script: [...script] }, clock), requests);
  const agent = await startAgent(
    {
      agentName: 'tested',
      modelRef: 'Model/scripted',
      ...plan,
      models: { 'Model/scripted': scripted, ...plan.models },
      // The delays are short, because a test should not wait for retries.
      policy: { retryBaseMs: 1, unwindMs: 200, ...plan.policy },
    },
    {
      store,
      clock,
      ownsProcess: true,
      connections: () => connections,
      logSink: (line) => logs.push(line),
      ...(blobs === undefined ? {} : { blobs }),
      ...(engine === undefined ? {} : { engine }),
      ...(approver === undefined ? {} : { approver }),
      ...(changesets === undefined ? {} : { changesets }),
    },
  );
  for (const name of runtimeEvents) {
    // The cast is safe: the payload has the type of its event name.
    agent.parts.bus.on(name, (payload) => told.push({ name, payload } as ToldEvent));
  }
  let count = 0;
  return {
    agent,
    store,
    requests,
    told,
    logs,
    async say(input, { event, ...turnOptions } = {}) {
      const number = ++count;
      const deltas: TurnDelta[] = [];
      const recorder = recordTurn(clock);
      const sent: AgentEvent = {
        id: `event-${number}`,
        type: 'user.message',
        instanceKey: agent.parts.address.instanceKey,
        source: { kind: 'cli', name: 'test' },
        traceId: `trace-${number}`,
        createdAt: clock.now(),
        ...(input === undefined ? {} : { input }),
        ...event,
      };
      const outcome = await agent.handle(sent, {
        onDelta: (delta) => deltas.push(delta),
        observer: recorder,
        ...turnOptions,
      });
      return {
        ...outcome,
        text: textOf(outcome.result.responseMessage),
        deltas,
        get trace() {
          return recorder.turn();
        },
      };
    },
    messages: async () => (await store.read(agent.parts.address)).messages,
    stateOf: async (name) => (await store.read(agent.parts.address)).extensionState[name],
    layers: (kind) => agent.layers(kind).map((layer) => `${layer.extension}/${layer.name}`),
    close: (graceMs) => agent.close(graceMs),
  };
}

/** Creates an extension from a function, as if the extension had been loaded from a file. */
export function extension<Config = JsonObject>(
  name: string,
  register: ExtensionRegister<Config>,
  options: { config?: JsonObject; tier?: Tier; configSchema?: JsonObject } = {},
): ExtensionDeclaration {
  const { config, tier, configSchema } = options;
  return {
    resource: {
      apiVersion: 'goondan.ai/v1',
      kind: 'Extension',
      metadata: { name },
      spec: { entry: './index.ts', ...(config === undefined ? {} : { config }) },
    },
    root: '.',
    // The cast is safe: `configSchema` checks the declared config, not this type.
    module: { register: register as ExtensionRegister, ...(configSchema === undefined ? {} : { configSchema }) },
    ...(tier === undefined ? {} : { tier }),
  };
}

/** Declares an extension whose module is a file. The runtime loads the file in the usual way. */
export function extensionFile(
  name: string,
  root: string,
  entry: string,
  config: JsonObject = {},
): ExtensionDeclaration {
  return {
    resource: { apiVersion: 'goondan.ai/v1', kind: 'Extension', metadata: { name }, spec: { entry, config } },
    root,
  };
}
