/**
 * Messages from an agent process to the orchestrator. None of them names its sender: the orchestrator knows the owner
 * of the channel, and sets source, auth and the call chain itself.
 */
import type { ExtensionStatusChanged, MiddlewareKind, TurnDelta } from '@goondan/types';
import type { LogLine } from '../ports/log-line.ts';
import { middlewareKinds } from '../ports/middleware-kinds.ts';
import { agentAddress, agentEvent } from './check/agent-event.ts';
import { codePlace } from './check/code-place.ts';
import { frameError } from './check/frame-error.ts';
import {
  type Check,
  count,
  type FieldsOf,
  flag,
  json,
  jsonObject,
  listOf,
  literal,
  name,
  number,
  object,
  oneByField,
  type OneOf,
  oneOf,
  optional,
  text,
} from './check/shape.ts';
import { extensionStatusChanged } from './check/extension-status.ts';
import { replayOutcome } from './check/replay-outcome.ts';
import { tokenUsage, turnResult } from './check/turn-result.ts';
import { requestTimeoutField } from './request-timeout.ts';

/** One layer as `gdn explain` shows it. */
export interface LayerSummary {
  readonly kind: MiddlewareKind;
  readonly extension: string;
  readonly name: string;
  readonly tier: 'swarm' | 'agent' | 'hook';
  readonly priority: number;
  readonly mayShortCircuit: boolean;
  readonly timeoutMs?: number;
  readonly onError: 'fail' | 'skip';
  readonly buffers: boolean;
}

/** How many messages of each kind were dropped, because the other side was too slow. */
export interface DroppedCounts {
  readonly delta: number;
  readonly log: number;
  readonly 'runtime.event': number;
}

/** The parts of a loaded agent. */
export interface AgentDescription {
  /** Names of extensions, in the order of loading. */
  readonly extensions: readonly string[];
  /** Layers, outermost first, kind by kind. */
  readonly layers: readonly LayerSummary[];
  /** Names of all its tools, in the order of the catalog. */
  readonly tools: readonly string[];
  /** Tools that extensions registered; absent when there are none. */
  readonly registered?: readonly {
    readonly name: string;
    readonly extension: string;
    /** The time at which the extension was last known to offer the tool. */
    readonly seenAt: string;
  }[];
  /** Extensions whose tools are not known yet, because their server is not connected; absent when there are none. */
  readonly unknown?: readonly string[];
}

/** An agent's description of itself: its parts, and the statuses of its extensions. */
export interface AgentSelf extends AgentDescription {
  /** Statuses of extensions; absent when no extension has one. */
  readonly statuses?: readonly ExtensionStatusChanged[];
}

const layerSummary: Check<LayerSummary> = object({
  kind: oneOf(...middlewareKinds),
  extension: name,
  name,
  tier: oneOf('swarm', 'agent', 'hook'),
  priority: number,
  mayShortCircuit: flag,
  timeoutMs: optional(number),
  onError: oneOf('fail', 'skip'),
  buffers: flag,
} satisfies FieldsOf<LayerSummary>);

const descriptionFields = {
  extensions: listOf(name),
  layers: listOf(layerSummary),
  tools: listOf(name),
  registered: optional(listOf(object({ name, extension: name, seenAt: name }))),
  unknown: optional(listOf(name)),
} satisfies FieldsOf<AgentDescription>;

export const agentDescription: Check<AgentDescription> = object(descriptionFields);

const selfFields = {
  ...descriptionFields,
  statuses: optional(listOf(extensionStatusChanged)),
} satisfies FieldsOf<AgentSelf>;

export const turnDelta: Check<TurnDelta> = oneByField<'type', TurnDelta>('type', {
  text: () => object({ type: literal('text'), text, turnId: name, stepId: name, stepIndex: count }),
  reasoning: () => object({ type: literal('reasoning'), text, turnId: name, stepId: name, stepIndex: count }),
  discard: () => object({ type: literal('discard'), turnId: name, stepId: name, stepIndex: count }),
});

export const logLine: Check<LogLine> = object({
  time: name,
  level: oneOf('debug', 'info', 'warn', 'error'),
  message: text,
  agent: optional(text),
  instance: optional(text),
  connection: optional(text),
  extension: optional(text),
  turnId: optional(text),
  traceId: optional(text),
  event: optional(text),
  place: optional(codePlace),
  data: optional(json),
} satisfies FieldsOf<LogLine>);

export const droppedCounts: Check<DroppedCounts> = object({ delta: count, log: count, 'runtime.event': count });

const fromAgent = {
  ready: () => object({ type: literal('ready'), ...selfFields }),
  /** The parts of the agent have changed: a server was connected or lost, or tools were added or removed. */
  described: () => object({ type: literal('described'), ...selfFields }),
  'start.failed': () => object({ type: literal('start.failed'), error: frameError }),
  /**
   * The turn has no result, because its conversation cannot be read, or its work cannot be written. The process exits.
   */
  'turn.lost': () => object({ type: literal('turn.lost'), eventId: name, error: frameError }),
  /** The turn has ended. Sent after its commit. */
  'turn.done': () =>
    object({
      type: literal('turn.done'),
      eventId: name,
      result: turnResult,
      stepCount: count,
      usage: tokenUsage,
    }),
  /** An answer that was committed before this process started and may not have been delivered. */
  reply: () => object({ type: literal('reply'), eventId: name, result: turnResult }),
  delta: () => object({ type: literal('delta'), eventId: name, delta: turnDelta }),
  'runtime.event': () => object({ type: literal('runtime.event'), name, payload: jsonObject }),
  log: () => object({ type: literal('log'), line: logLine }),
  /** A call to another agent. Answered by `call.ended` with the same `callId`. */
  call: () =>
    object({
      type: literal('call'),
      callId: name,
      kind: oneOf('request', 'send'),
      to: agentAddress,
      event: agentEvent,
      /** The timeout of a request; the callee's `turnTimeoutMs` when absent. */
      timeoutMs: optional(number),
      timeoutField: optional(requestTimeoutField),
    }),
  /** The caller no longer waits for this call. */
  'call.cancelled': () => object({ type: literal('call.cancelled'), callId: name }),
  /** Requests the list of instances. Answered by `agents.listed` with the same `callId`. */
  'agents.list': () => object({ type: literal('agents.list'), callId: name }),
  /** Requests approval of a tool call of the running turn. Answered by `approval.ended` with the same `callId`. */
  'approval.ask': () =>
    object({
      type: literal('approval.ask'),
      callId: name,
      key: name,
      toolCallId: name,
      toolName: name,
      args: jsonObject,
      reason: text,
      expiresInMs: number,
    }),
  /** The turn no longer waits for this answer. */
  'approval.withdrawn': () => object({ type: literal('approval.withdrawn'), callId: name }),
  /** The answer is on disk with the turn. */
  'approval.taken': () => object({ type: literal('approval.taken'), id: name }),
  pong: () => object({ type: literal('pong'), n: count }),
  /**
   * The last message: everything is cleaned up, and no turn is unfinished, unless `leavesTurn` says that one waits for
   * people.
   */
  drained: () => object({ type: literal('drained'), leavesTurn: optional(flag) }),
  /** The last message of a process that was started to replay a turn. */
  replayed: () => object({ type: literal('replayed'), outcome: replayOutcome }),
  /** Made by the channel itself. */
  dropped: () => object({ type: literal('dropped'), counts: droppedCounts }),
};

export type FromAgent = OneOf<typeof fromAgent>;

export const checkFromAgent: Check<FromAgent> = oneByField<'type', FromAgent>('type', fromAgent);
