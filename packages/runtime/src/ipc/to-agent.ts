/** Messages from the orchestrator to an agent process. */
import { agentCard, agentEvent, agentInstance, connectionCard } from './check/agent-event.ts';
import { questionOutcomeFields } from './check/approval-outcome.ts';
import { frameError } from './check/frame-error.ts';
import {
  count,
  flag,
  json,
  jsonObject,
  listOf,
  name,
  number,
  object,
  oneByField,
  oneOf,
  optional,
  text,
} from './check/shape.ts';
import { tokenUsage, turnResult } from './check/turn-result.ts';

const callOutcome = oneByField('status', {
  accepted: () => ({}),
  answered: () => ({ result: turnResult, usage: optional(tokenUsage) }),
  failed: () => ({ error: frameError, usage: optional(tokenUsage), usageFollows: optional(flag) }),
});

/**
 * The outcome of a call to another agent: a `send` is accepted, a `request` is answered, and either can fail. `usage`: the
 * tokens of the called turn, and of the agents that it called. `usageFollows`: that turn still has to end, and its tokens
 * come in a second `call.ended` with the same `callId`, if they come.
 */
export type CallOutcome = ReturnType<typeof callOutcome>;

const questionEnd = oneByField('status', {
  answered: () => ({ answer: object({ id: name, ...questionOutcomeFields }) }),
  failed: () => ({ error: frameError }),
});

/** The outcome of a question. `id`: the id to send back in `question.taken`. */
export type QuestionEnd = ReturnType<typeof questionEnd>;

const changesetEnd = oneByField('status', {
  answered: () => ({ value: json }),
  failed: () => ({ error: frameError }),
});

/** The answer to a `changeset.ask`. `value`: a `ChangesetAnswer` of this request. */
export type ChangesetEnd = ReturnType<typeof changesetEnd>;

const counterEnd = oneByField('status', {
  /** `marked`: the positions of soft claims that are the first ones above their limit. */
  reserved: () => ({ marked: listOf(count), waitedMs: number }),
  refused: () => ({ claim: count, used: number, reserved: number, limit: number, day: optional(count) }),
  done: () => ({}),
  failed: () => ({ error: frameError }),
});

/** The answer to a `counters.ask`: `reserved` or `refused` for `reserve`, otherwise `done`; or `failed`. */
export type CounterEnd = ReturnType<typeof counterEnd>;

const storeEnd = oneByField('status', {
  done: () => ({}),
  loaded: () => ({
    log: object({ epoch: count, checkpoint: optional(text), base: listOf(text), frames: listOf(text) }),
  }),
  stored: () => ({ digest: name }),
  /** A piece of a file in base64, and the size of the whole file; both absent when it is not stored. */
  bytes: () => ({ data: optional(text), size: optional(count) }),
  left: () => ({ answers: listOf(object({ eventId: name, result: turnResult, usage: optional(tokenUsage) })) }),
  failed: () => ({ error: frameError }),
});

/**
 * The outcome of a `store` request: `loaded` for `load`, `left` for `answers.left`, `stored` and `bytes` for files,
 * otherwise `done`; or `failed`.
 */
export type StoreEnd = ReturnType<typeof storeEnd>;

/** The kinds of frames that a process sends only while somebody watches them. */
export const watchedKind = oneOf('delta', 'runtime.event');

export type WatchedKind = ReturnType<typeof watchedKind>;

export const checkToAgent = oneByField('type', {
  /** The first message, sent once. `plan` is an `AgentStart`. */
  start: () => ({ plan: jsonObject }),
  /**
   * Runs a turn. The next `turn` message is sent after the `turn.done` of this turn, unless the process has begun the
   * event of `turn.ahead`. `seq`: the number of the event in the inbox.
   */
  turn: () => ({
    event: agentEvent,
    seq: count,
    /**
     * True if the event crashed its process too often: its input is added to the conversation, and nothing else runs.
     */
    deadLetter: optional(flag),
    /** The code that blocked the last process of the event, in words. */
    blocked: optional(text),
    /** The number of nodes that the turn of a dead letter ended, if that is why it is one. */
    takeOvers: optional(count),
    /** True if the event's last turn ended because the store failed. This does not count as a crash of the event. */
    isExcused: optional(flag),
  }),
  /**
   * Hands the process its next event while a turn runs. The process begins it after the commit of that turn, and says
   * so in `turn.done`. If the process does not begin it then, the event comes again in a `turn` message.
   */
  'turn.ahead': () => ({ event: agentEvent, seq: count }),
  /** Takes the event of `turn.ahead` back. Answered by `turn.returned`. */
  'turn.back': () => ({ eventId: name }),
  /**
   * Hands the process an event whose input the running turn may take, between two steps; `turn.done` says whether it did.
   * Ignored if no turn runs. An event that is not taken comes again, for the next turn or in a `turn` message.
   */
  'turn.steer': () => ({ event: agentEvent, seq: count }),
  cancel: () => ({ eventId: name, reason: text }),
  'call.ended': () => ({ callId: name, outcome: callOutcome }),
  /** The answer to this event was delivered, so the process need not keep it any more. */
  'reply.taken': () => ({ eventId: name }),
  /**
   * The kinds of frames that are watched from now on; the process sends no frames of the other kinds. With `soFar`, the
   * process first sends the running turn so far, in a frame `so.far`. `during`: the event of the running turn, as far as
   * the orchestrator knows.
   */
  watch: () => ({ kinds: listOf(watchedKind), soFar: optional(flag), during: optional(name) }),
  'agents.listed': () => ({ callId: name, instances: listOf(agentInstance) }),
  /**
   * Pauses the deadlines of a turn while an agent that it called waits for people. If `isHeld` is false, they run
   * again.
   */
  'turn.held': () => ({ eventId: name, isHeld: flag }),
  'question.ended': () => ({ callId: name, outcome: questionEnd }),
  'changeset.ended': () => ({ callId: name, outcome: changesetEnd }),
  'counters.ended': () => ({ callId: name, outcome: counterEnd }),
  /** The call of this `counters.ask` waits for a limit, in words. Its `counters.ended` follows. */
  'counters.waiting': () => ({ callId: name, limit: text }),
  'store.ended': () => ({ callId: name, outcome: storeEnd }),
  /** The agents of the swarm, and the connections whose events can reach this agent, from now on. */
  'agents.changed': () => ({ agents: listOf(agentCard), connections: listOf(connectionCard) }),
  /**
   * Asks the process to load and register the new and changed parts of a wanted plan, without putting them in place.
   * `plan` is the wanted `DeclaredAgent`. Answered by `change.ready` or `change.failed` with the same `change`.
   */
  'change.prepare': () => ({ change: count, plan: jsonObject }),
  /** Asks the process to put the prepared change in place at its next step boundary. Answered by `change.swapped`. */
  'change.swap': () => ({ change: count }),
  /** Asks the process to clean up the prepared parts of this change. Nothing else changes. */
  'change.drop': () => ({ change: count }),
  ping: () => ({ n: count }),
  /**
   * Asks the process to finish the running turn, clean up and send `drained`, all within `graceMs`. The cleanup may
   * take `cleanUpMs`; when absent, the rest of the grace. Tool calls that wait for a person and must not be repeated are
   * ended, unless the drain is unhurried: then the process waits for the person, or for another drain.
   */
  drain: () => ({ graceMs: count, cleanUpMs: optional(count), isUnhurried: optional(flag) }),
});

export type ToAgent = ReturnType<typeof checkToAgent>;
