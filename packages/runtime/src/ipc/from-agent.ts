/**
 * Messages of an agent process to the orchestrator. None of them says who the sender is: the orchestrator knows the
 * owner of the channel, and sets source, auth and the chain of calls itself.
 */
import type {
  AgentAddress,
  AgentEvent,
  ExtensionStatusChanged,
  JsonObject,
  MiddlewareKind,
  TurnDelta,
  TurnResult,
} from '@goondan/types';
import type { LogLine } from '../ports/log-line.ts';
import type { TurnOutcome } from '../ports/turn-outcome.ts';
import { middlewareKinds } from '../ports/middleware-kinds.ts';
import type { ReplayOutcome } from '../trace/replay.ts';
import { agentAddress, agentEvent } from './check/agent-event.ts';
import { codePlace } from './check/code-place.ts';
import { type FrameError, frameError } from './check/frame-error.ts';
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
  oneOf,
  optional,
  text,
} from './check/shape.ts';
import { extensionStatusChanged } from './check/extension-status.ts';
import { replayOutcome } from './check/replay-outcome.ts';
import { tokenUsage, turnResult } from './check/turn-result.ts';
import { requestTimeoutField, type RequestTimeout } from './request-timeout.ts';

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

/** The number of dropped messages per kind, because the other side was too slow. */
export interface DroppedCounts {
  readonly delta: number;
  readonly log: number;
  readonly 'runtime.event': number;
}

/** The parts of a loaded agent. */
export interface AgentDescription {
  /** Names in the order of loading. */
  readonly extensions: readonly string[];
  /** Outermost first, kind by kind. */
  readonly layers: readonly LayerSummary[];
  /** Names of all its tools, in the order of the catalog. */
  readonly tools: readonly string[];
  /** Tools that extensions registered; absent when there are none. */
  readonly registered?: readonly RegisteredToolSummary[];
  /** Extensions whose tools are not known yet, because their server is not connected; absent when there are none. */
  readonly unknown?: readonly string[];
}

export interface RegisteredToolSummary {
  readonly name: string;
  readonly extension: string;
  /** The time at which the extension was last known to offer it. */
  readonly seenAt: string;
}

/** An agent's description of itself: its parts, and the statuses of its extensions. */
export interface AgentSelf extends AgentDescription {
  /** Statuses of extensions; absent when no extension has one. */
  readonly statuses?: readonly ExtensionStatusChanged[];
}

export type FromAgent =
  | ({ readonly type: 'ready' } & AgentSelf)
  /** The agent has changed: a server was connected or lost, tools were added or removed. */
  | ({ readonly type: 'described' } & AgentSelf)
  | { readonly type: 'start.failed'; readonly error: FrameError }
  /** The turn gave no result: its conversation cannot be read, or its work cannot be written. The process ends. */
  | { readonly type: 'turn.lost'; readonly eventId: string; readonly error: FrameError }
  /** Sent after the commit. */
  | ({ readonly type: 'turn.done'; readonly eventId: string } & TurnOutcome)
  /** An answer that was committed before this process started, without proof that it was delivered. */
  | { readonly type: 'reply'; readonly eventId: string; readonly result: TurnResult }
  | { readonly type: 'delta'; readonly eventId: string; readonly delta: TurnDelta }
  | { readonly type: 'runtime.event'; readonly name: string; readonly payload: JsonObject }
  | { readonly type: 'log'; readonly line: LogLine }
  /** Answered by `call.ended` with the same `callId`. */
  | {
      readonly type: 'call';
      readonly callId: string;
      readonly kind: 'request' | 'send';
      readonly to: AgentAddress;
      readonly event: AgentEvent;
      /** The timeout of a request; the callee's `turnTimeoutMs` when absent. */
      readonly timeoutMs?: number;
      readonly timeoutField?: RequestTimeout['field'];
    }
  /** The caller no longer waits. */
  | { readonly type: 'call.cancelled'; readonly callId: string }
  /** Answered by `agents.listed` with the same `callId`. */
  | { readonly type: 'agents.list'; readonly callId: string }
  /** Asks for approval of a tool call of the running turn. Answered by `approval.ended` with the same `callId`. */
  | {
      readonly type: 'approval.ask';
      readonly callId: string;
      readonly key: string;
      readonly toolCallId: string;
      readonly toolName: string;
      readonly args: JsonObject;
      readonly reason: string;
      readonly expiresInMs: number;
    }
  /** The turn no longer waits for the answer. */
  | { readonly type: 'approval.withdrawn'; readonly callId: string }
  /** The answer is stored with the turn. */
  | { readonly type: 'approval.taken'; readonly id: string }
  | { readonly type: 'pong'; readonly n: number }
  /** The last message: everything is cleaned up, and only a turn that waits for people may be left. */
  | { readonly type: 'drained'; readonly leavesTurn?: boolean }
  /** The last message of a process that was started to replay a turn. */
  | { readonly type: 'replayed'; readonly outcome: ReplayOutcome }
  /** Sent by the channel itself. */
  | { readonly type: 'dropped'; readonly counts: DroppedCounts };

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
  registered: optional(
    listOf(object({ name, extension: name, seenAt: name } satisfies FieldsOf<RegisteredToolSummary>)),
  ),
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

export const checkFromAgent: Check<FromAgent> = oneByField<'type', FromAgent>('type', {
  ready: () => object({ type: literal('ready'), ...selfFields }),
  described: () => object({ type: literal('described'), ...selfFields }),
  'start.failed': () => object({ type: literal('start.failed'), error: frameError }),
  'turn.lost': () => object({ type: literal('turn.lost'), eventId: name, error: frameError }),
  'turn.done': () =>
    object({
      type: literal('turn.done'),
      eventId: name,
      result: turnResult,
      stepCount: count,
      usage: tokenUsage,
    }),
  reply: () => object({ type: literal('reply'), eventId: name, result: turnResult }),
  delta: () => object({ type: literal('delta'), eventId: name, delta: turnDelta }),
  'runtime.event': () => object({ type: literal('runtime.event'), name, payload: jsonObject }),
  log: () => object({ type: literal('log'), line: logLine }),
  call: () =>
    object({
      type: literal('call'),
      callId: name,
      kind: oneOf('request', 'send'),
      to: agentAddress,
      event: agentEvent,
      timeoutMs: optional(number),
      timeoutField: optional(requestTimeoutField),
    }),
  'call.cancelled': () => object({ type: literal('call.cancelled'), callId: name }),
  'agents.list': () => object({ type: literal('agents.list'), callId: name }),
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
  'approval.withdrawn': () => object({ type: literal('approval.withdrawn'), callId: name }),
  'approval.taken': () => object({ type: literal('approval.taken'), id: name }),
  pong: () => object({ type: literal('pong'), n: count }),
  drained: () => object({ type: literal('drained'), leavesTurn: optional(flag) }),
  replayed: () => object({ type: literal('replayed'), outcome: replayOutcome }),
  dropped: () => object({ type: literal('dropped'), counts: droppedCounts }),
});
