/**
 * What an agent's process says to the orchestrator. Nothing here says who it is: the orchestrator knows whose channel
 * it is, and stamps source, auth and the chain of calls itself.
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
import { requestTimeoutField, type RequestTimeoutField } from './request-timeout.ts';

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

/** How many messages of each kind were let go because the other side did not keep up. */
export interface DroppedCounts {
  readonly delta: number;
  readonly log: number;
  readonly 'runtime.event': number;
}

/** What an agent turned out to be made of when it was loaded. */
export interface AgentDescription {
  /** In the order they were loaded. */
  readonly extensions: readonly string[];
  /** Outermost first, kind by kind. */
  readonly layers: readonly LayerSummary[];
  /** Names of all its tools, in the order of the catalog. */
  readonly tools: readonly string[];
  /** The tools that extensions registered; absent when there is none. */
  readonly registered?: readonly RegisteredToolSummary[];
  /** Extensions whose tools nobody knows yet, because what they need was not connected; absent when there is none. */
  readonly unknown?: readonly string[];
}

export interface RegisteredToolSummary {
  readonly name: string;
  readonly extension: string;
  /** When the extension was last known to offer it. */
  readonly seenAt: string;
}

/** An agent about itself: its parts, and the statuses of things its extensions need. */
export interface AgentSelf extends AgentDescription {
  /** Statuses of extensions that have one; absent when none has. */
  readonly statuses?: readonly ExtensionStatusChanged[];
}

export type FromAgent =
  | ({ readonly type: 'ready' } & AgentSelf)
  /** It is another one now: a server was connected or lost, tools came or went. */
  | ({ readonly type: 'described' } & AgentSelf)
  | { readonly type: 'start.failed'; readonly error: FrameError }
  /** The turn gave no result: its conversation cannot be read, or what it did cannot be written. The process ends. */
  | { readonly type: 'turn.lost'; readonly eventId: string; readonly error: FrameError }
  /** After the commit. */
  | ({ readonly type: 'turn.done'; readonly eventId: string } & TurnOutcome)
  /** An answer that was committed before this process started, and that nobody is known to have got. */
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
      /** How long a request waits; as long as the callee's turn may run when absent. */
      readonly timeoutMs?: number;
      readonly timeoutField?: RequestTimeoutField;
    }
  /** The caller no longer waits. */
  | { readonly type: 'call.cancelled'; readonly callId: string }
  /** Answered by `agents.listed` with the same `callId`. */
  | { readonly type: 'agents.list'; readonly callId: string }
  /** A person is to be asked about a tool call of the running turn. Answered by `approval.ended` with the same `callId`. */
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
  /** Nobody waits for the answer any more. */
  | { readonly type: 'approval.withdrawn'; readonly callId: string }
  /** The answer is kept with the turn. */
  | { readonly type: 'approval.taken'; readonly id: string }
  | { readonly type: 'pong'; readonly n: number }
  /** The last message: everything is cleaned up, and nothing runs but a turn that waits for people and is left there. */
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
