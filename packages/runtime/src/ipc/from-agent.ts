/**
 * Messages from an agent process to the orchestrator. No message names its sender. The orchestrator knows the owner of
 * the channel, and sets source, auth and the call chain of an event itself.
 */
import { questionKinds } from '../questions/question-record.ts';
import { asking } from './check/asking.ts';
import { middlewareKinds } from '../ports/middleware-kinds.ts';
import { agentAddress, agentEvent } from './check/agent-event.ts';
import { frameError } from './check/frame-error.ts';
import {
  amount,
  type Check,
  count,
  date,
  type FieldsOf,
  flag,
  jsonObject,
  listOf,
  name,
  number,
  object,
  type ObjectOf,
  oneByField,
  oneOf,
  optional,
  text,
} from './check/shape.ts';
import { extensionStatusChanged } from './check/extension-status.ts';
import { logLine } from './check/log-line.ts';
import { replayOutcome } from './check/replay-outcome.ts';
import { turnDelta } from './check/turn-delta.ts';
import { tokenUsage, turnResult } from './check/turn-result.ts';
import type { Spending } from '../usage/spending.ts';
import type { UploadPiece } from './blob-chunks.ts';
import { requestTimeoutField, requestTimeoutFrom } from './request-timeout.ts';

/** One layer as `gdn explain` shows it. */
const layerSummary = object({
  kind: oneOf(...middlewareKinds),
  extension: name,
  name,
  tier: oneOf('swarm', 'agent', 'innermost', 'hook'),
  priority: number,
  mayShortCircuit: flag,
  timeoutMs: optional(number),
  onError: oneOf('fail', 'skip'),
  buffers: flag,
});

export type LayerSummary = ReturnType<typeof layerSummary>;

const descriptionFields = {
  /** Names of extensions, in the order of loading. */
  extensions: listOf(name),
  /** Layers, outermost first, kind by kind. */
  layers: listOf(layerSummary),
  /** Names of all tools of the agent, in the order of the catalog. */
  tools: listOf(name),
  /**
   * Tools that extensions registered; absent when there are none. `seenAt`: the time at which the extension was last
   * known to offer the tool.
   */
  registered: optional(listOf(object({ name, extension: name, seenAt: name }))),
  /** Extensions whose tools are not known yet, because their server is not connected; absent when there are none. */
  unknown: optional(listOf(name)),
};

/** The parts of a loaded agent. */
export const agentDescription = object(descriptionFields);

export type AgentDescription = ReturnType<typeof agentDescription>;

const selfFields = {
  ...descriptionFields,
  /** Statuses of extensions; absent when no extension has one. */
  statuses: optional(listOf(extensionStatusChanged)),
};

/** An agent's description of itself: its parts, and the statuses of its extensions. */
export type AgentSelf = ObjectOf<typeof selfFields>;

/** How many messages of each kind were dropped, because the other side was too slow. */
export const droppedCounts = object({ delta: count, log: count, 'runtime.event': count });

export type DroppedCounts = ReturnType<typeof droppedCounts>;

const changesetRequest = oneByField('kind', {
  open: () => ({}),
  read: () => ({ changesetId: name, path: text }),
  /** Without `content`, the changeset deletes the file. */
  write: () => ({ changesetId: name, path: text, content: optional(text) }),
  /** Checks a changeset, and returns its diff and its digest for a person. */
  review: () => ({ changesetId: name }),
  /** `digest`: the digest that `review` returned. `approvalId`: the approval of this digest by a person, if one is needed. */
  commit: () => ({ changesetId: name, digest: name, approvalId: optional(name) }),
});

export type ChangesetRequest = ReturnType<typeof changesetRequest>;

const spending: Check<Spending> = object({
  day: name,
  provider: name,
  model: name,
  extension: optional(name),
  calls: count,
  usage: tokenUsage,
} satisfies FieldsOf<Spending>);

const frameCommit = object({
  version: count,
  messages: count,
  deadLetters: count,
  updatedAt: number,
  handled: count,
  spent: optional(listOf(spending)),
  taken: optional(listOf(count)),
  answer: optional(object({ eventId: name, caller: optional(agentAddress), reply: text })),
});

const logFrame = object({
  seq: count,
  last: count,
  line: text,
  isDurable: flag,
  begins: optional(count),
  commit: optional(frameCommit),
});

const newCheckpoint = object({
  seq: count,
  text,
  base: object({ type: oneOf('append', 'rewrite'), lines: text }),
});

const turnLine = object({
  turn: object({ turnId: name, traceId: text, startedAt: date }),
  isNeeded: flag,
  text,
});

/** A piece of an upload, in base64. */
export const uploadPiece = { upload: name, data: text, size: count, isLast: flag } satisfies FieldsOf<UploadPiece>;

/** A request to a store that is elsewhere. It is always about the instance of the channel. */
const storeRequest = oneByField('kind', {
  load: () => ({}),
  append: () => ({ epoch: count, frame: logFrame }),
  checkpoint: () => ({ epoch: count, checkpoint: newCheckpoint }),
  'answers.left': () => ({}),
  'answers.acknowledge': () => ({ eventId: name }),
  /** Lines for people. They are answered when the sink has taken them, and a turn does not wait for that. */
  traces: () => ({ lines: listOf(turnLine) }),
  events: () => ({ lines: listOf(jsonObject) }),
  /** A piece of a file; see `blob-chunks.ts`. Answered by `stored` for the last piece. */
  'blob.put': () => uploadPiece,
  /** Answered by `bytes`: a piece of the file from this place on. */
  'blob.get': () => ({ digest: name, from: count }),
  'blob.size': () => ({ digest: name }),
  'blob.use': () => ({ digests: listOf(name) }),
  'blob.named': () => ({ digests: listOf(name) }),
});

export type StoreRequest = ReturnType<typeof storeRequest>;

/** A claim of a model call. The orchestrator adds the place of the turn to the name of its counter. */
const callClaim = object({
  scope: oneOf('turn', 'conversation', 'agent', 'swarm'),
  counter: name,
  window: oneOf('ever', 'day', 'minute', 'call'),
  amount,
  limit: number,
  isSoft: optional(flag),
});

export type CallClaim = ReturnType<typeof callClaim>;

const counterRequest = oneByField('kind', {
  /**
   * Reserves all claims of a call, or none. With `limits`, the words for each claim, the call waits in the line of its
   * model until they fit, and begins then.
   */
  reserve: () => ({ id: name, claims: listOf(callClaim), limits: optional(listOf(text)) }),
  /** The calls of these reservations begin now. */
  begin: () => ({ ids: listOf(name) }),
  /** Raises a budget, which a person approved. `budget`: the arguments of the question. */
  raise: () => ({ approvalId: name, budget: jsonObject }),
});

export type CounterRequest = ReturnType<typeof counterRequest>;

export const checkFromAgent = oneByField('type', {
  ready: () => selfFields,
  /** The parts of the agent have changed: a server was connected or lost, or tools were added or removed. */
  described: () => selfFields,
  'start.failed': () => ({ error: frameError }),
  /** Confirms a `turn`, at once. A turn that was handed ahead is confirmed by the `begins` of `turn.done`. */
  'turn.begun': () => ({}),
  /**
   * The turn has no result, because its conversation cannot be read, or its work cannot be written. The process exits.
   */
  'turn.lost': () => ({ eventId: name, error: frameError }),
  /**
   * The turn has ended. Sent after its commit. `begins`: the event of `turn.ahead`, if its turn begins now. The turn
   * begins after this message was sent.
   */
  'turn.done': () => ({
    eventId: name,
    result: turnResult,
    stepCount: count,
    usage: tokenUsage,
    called: optional(tokenUsage),
    /** The ids of the events that the turn has taken. Their turn is this one. */
    took: optional(listOf(name)),
    begins: optional(name),
  }),
  /** The process does not begin this event any more. If it has begun it, `turn.done` has said so before. */
  'turn.returned': () => ({ eventId: name }),
  /** An answer that was committed before this process started, and that its caller may not have received. */
  reply: () => ({ eventId: name, result: turnResult, usage: optional(tokenUsage) }),
  /** A piece of a turn's output. Sent while somebody watches this kind; see `watch`. */
  delta: () => ({ eventId: name, delta: turnDelta }),
  /** Sent while somebody watches this kind; see `watch`. */
  'runtime.event': () => ({ name, payload: jsonObject }),
  /**
   * The running turn so far, as an answer to `watch`: its kept events, and the output of its current step. Both are empty
   * if no turn runs.
   */
  'so.far': () => ({
    events: listOf(object({ name, payload: jsonObject })),
    deltas: listOf(object({ eventId: name, delta: turnDelta, soFar: oneOf('all', 'end') })),
  }),
  log: () => ({ line: logLine }),
  /** A call to another agent. Answered by `call.ended` with the same `callId`. */
  call: () => ({
    callId: name,
    kind: oneOf('request', 'send'),
    to: agentAddress,
    event: agentEvent,
    /** The timeout of a request; the callee's `turnTimeoutMs` when absent. */
    timeoutMs: optional(number),
    timeoutField: optional(requestTimeoutField),
    timeoutFrom: optional(requestTimeoutFrom),
  }),
  /** The agent no longer waits for this call. */
  'call.cancelled': () => ({ callId: name }),
  /** Requests the list of instances. Answered by `agents.listed` with the same `callId`. */
  'agents.list': () => ({ callId: name }),
  /** Asks a person on behalf of the running turn. Answered by `question.ended` with the same `callId`. */
  'question.ask': () => ({
    callId: name,
    key: name,
    toolCallId: name,
    toolName: name,
    args: jsonObject,
    reason: text,
    expiresInMs: number,
    kind: oneOf(...questionKinds),
    askedBy: optional(asking),
    schema: optional(jsonObject),
    url: optional(text),
    fingerprint: optional(name),
  }),
  /** The turn no longer waits for this answer. */
  'question.withdrawn': () => ({ callId: name }),
  /** The answer to a question is on disk with the turn. */
  'question.taken': () => ({ id: name }),
  /**
   * Reads or writes the conversation in a store that is elsewhere. Answered by `store.ended` with the same `callId`.
   * Requests about the conversation are carried out in the order of their messages.
   */
  store: () => ({ callId: name, request: storeRequest }),
  /** Asks about a changeset of the bundle. Answered by `changeset.ended` with the same `callId`. */
  'changeset.ask': () => ({ callId: name, request: changesetRequest }),
  /** The agent no longer waits for this answer. A commit that has begun to replace files is finished all the same. */
  'changeset.withdrawn': () => ({ callId: name }),
  /** Asks about counters of model calls. Answered by `counters.ended` with the same `callId`. */
  'counters.ask': () => ({ callId: name, request: counterRequest }),
  /** The agent no longer waits for this answer. A reservation that is made all the same is released. */
  'counters.withdrawn': () => ({ callId: name }),
  /** The call of a reservation has ended. `amounts`: the real amount of each claim; absent if the call was not made. */
  'counters.settled': () => ({ id: name, amounts: optional(listOf(amount)) }),
  /** The parts of a change are loaded and registered, and wait for `change.swap` or `change.drop`. */
  'change.ready': () => ({ change: count }),
  /** The change cannot be made. The process has dropped its new parts and runs as before. */
  'change.failed': () => ({ change: count, error: frameError }),
  /** The change is in place. A `described` message follows. */
  'change.swapped': () => ({ change: count }),
  pong: () => ({ n: count }),
  /**
   * The last message. Everything is cleaned up, and no turn is unfinished; if `leavesTurn` is true, a turn that waits
   * for people is left for the next process.
   */
  drained: () => ({ leavesTurn: optional(flag) }),
  /** The last message of a process that was started to replay a turn. */
  replayed: () => ({ outcome: replayOutcome }),
  /** The channel itself makes this message. */
  dropped: () => ({ counts: droppedCounts }),
});

export type FromAgent = ReturnType<typeof checkFromAgent>;
