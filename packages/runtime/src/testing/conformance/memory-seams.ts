/**
 * The seams of a store in memory: the smallest store that conforms, to read before writing another one. A `MemorySwarm` is
 * the place where several nodes and processes meet, as a database would be.
 */
import { type AgentAddress, type AgentEvent, GoondanError, type TurnResult } from '@goondan/types';
import type { ConversationStore, TurnRecord } from '../../agent/conversation/conversation-store.ts';
import { memoryStore } from '../../agent/conversation/memory-store.ts';
import type { Answers, LeftAnswer } from '../../store/answers.ts';
import type { QuestionStore } from '../../store/question-store.ts';
import type { Counters } from '../../store/counters.ts';
import {
  abandonReservation,
  beginReservations,
  type Changed,
  endReservation,
  raiseLimit,
  reserveClaims,
} from '../../counters/change-counters.ts';
import type { CounterState } from '../../counters/counter-state.ts';
import type { Inbox } from '../../store/inbox.ts';
import type { Placement } from '../../store/placement.ts';
import { turnIdOf } from '../../ports/ids.ts';
import type { QuestionRecord } from '../../questions/question-record.ts';
import type { InboxEntry } from '../../workspace/inbox/inbox-line.ts';

interface KeptInput {
  last: number;
  readonly pending: InboxEntry[];
  readonly known: Set<string>;
  readonly answers: LeftAnswer[];
  /** The ids of events that the running turn has taken. */
  readonly taken: string[];
}

export class MemorySwarm {
  readonly conversations: ConversationStore = memoryStore();
  readonly inputs = new Map<string, KeptInput>();
  readonly wakeListeners = new Map<string, (instance: AgentAddress) => void>();
  readonly questions = new Map<string, QuestionRecord>();
  readonly counters = new Map<string, CounterState>();
  readonly questionListeners = new Set<(id: string, record?: QuestionRecord) => void>();
  /** The owners of instances, and the nodes with the time since when. */
  readonly owners = new Map<string, string>();
  readonly nodes = new Map<string, Date>();

  inputOf(instance: AgentAddress): KeptInput {
    const key = keyOf(instance);
    const kept = this.inputs.get(key) ?? { last: 0, pending: [], known: new Set(), answers: [], taken: [] };
    this.inputs.set(key, kept);
    return kept;
  }
}

/** Returns the conversations of a swarm. A commit also ends its input, and keeps the answer if a caller waits. */
export function memoryConversations(swarm: MemorySwarm): ConversationStore {
  return {
    ...swarm.conversations,
    async append(instance, epoch, at, records) {
      await swarm.conversations.append(instance, epoch, at, records);
      swarm.inputOf(instance).taken.push(...takenIn(records));
    },
    async commit(instance, epoch, turnId, delta, extensionState, result, rest) {
      await swarm.conversations.commit(instance, epoch, turnId, delta, extensionState, result, rest);
      const input = swarm.inputOf(instance);
      for (const id of [...input.taken.splice(0), ...takenIn(rest?.records ?? [])])
        endInput(input, turnIdOf(id), result);
      endInput(input, turnId, result);
    },
  };
}

/** Returns the ids of the events whose inputs a turn took with these records. */
function takenIn(records: readonly TurnRecord[]): readonly string[] {
  return records.flatMap((record) => (record.type === 'message' && record.took ? [record.took.event.id] : []));
}

function endInput({ pending, answers }: KeptInput, turnId: string, result: TurnResult): void {
  const at = pending.findIndex(({ event }) => `turn-${event.id}` === turnId);
  const [entry] = at < 0 ? [] : pending.splice(at, 1);
  if (entry?.event.replyTo !== undefined) answers.push({ eventId: entry.event.id, result });
}

export function memoryAnswers(swarm: MemorySwarm): Answers {
  return {
    left: async (instance) => [...swarm.inputOf(instance).answers],
    async acknowledge(instance, eventId) {
      const { answers } = swarm.inputOf(instance);
      const at = answers.findIndex((each) => each.eventId === eventId);
      if (at >= 0) answers.splice(at, 1);
    },
  };
}

/** Returns the inbox as this node sees it. Another node that owns the instance is woken. */
export function memoryInbox(swarm: MemorySwarm, node: string): Inbox {
  return {
    // It is never full.
    checkRoom: async () => undefined,
    async accept(instance, event) {
      const input = swarm.inputOf(instance);
      if (input.known.has(event.id)) return duplicateOf(input, event);
      input.last += 1;
      input.known.add(event.id);
      input.pending.push({ seq: input.last, event });
      const owner = swarm.owners.get(keyOf(instance)) ?? node;
      if (owner !== node) swarm.wakeListeners.get(owner)?.(instance);
      return { accepted: true, duplicate: false, seq: input.last };
    },
    async cancel(instance, eventId, reason) {
      const { pending } = swarm.inputOf(instance);
      const at = pending.findIndex(({ event }) => event.id === eventId);
      const entry = pending[at];
      if (entry === undefined) return false;
      pending[at] = { ...entry, cancelled: entry.cancelled ?? reason };
      return true;
    },
    pendingEntries: async (instance) => [...swarm.inputOf(instance).pending],
    // The commit has ended the input already.
    handled: () => undefined,
    onWake(listener) {
      swarm.wakeListeners.set(node, listener);
      return () => void swarm.wakeListeners.delete(node);
    },
  };
}

function duplicateOf({ pending }: KeptInput, { id }: AgentEvent) {
  const entry = pending.find(({ event }) => event.id === id);
  return { accepted: true, duplicate: true, ...(entry && { pending: entry }) } as const;
}

/** Joins the swarm as a node. It loses its place when it is removed from `swarm.nodes`. */
export function memoryPlacement(swarm: MemorySwarm, node: string): Placement {
  swarm.nodes.set(node, new Date());
  const isLost = () => !swarm.nodes.has(node);
  const error = () => new GoondanError('E_FENCED', `Node ${node} has lost its place.`);
  let tell: Parameters<Placement['onLost']>[0] | undefined;
  const check = () => {
    if (!isLost()) return;
    const told = tell;
    tell = undefined;
    told?.(error());
    throw error();
  };
  return {
    node,
    async claim(instance) {
      check();
      const owner = swarm.owners.get(keyOf(instance)) ?? node;
      if (owner !== node && swarm.nodes.has(owner)) return false;
      swarm.owners.set(keyOf(instance), node);
      return true;
    },
    async release(instance) {
      if (swarm.owners.get(keyOf(instance)) === node) swarm.owners.delete(keyOf(instance));
    },
    check,
    onLost(listener) {
      if (isLost()) listener(error());
      else tell = listener;
    },
    nodes: async () => [...swarm.nodes].map(([name, since]) => ({ name, since })),
    async leave() {
      for (const [key, owner] of swarm.owners) if (owner === node) swarm.owners.delete(key);
      swarm.nodes.delete(node);
    },
  };
}

/** Returns the counters as this node sees them. The reservations of nodes that have left are lost. */
export function memoryCounters({ counters, owners, nodes }: MemorySwarm, node: string): Counters {
  const read = (counter: string) => counters.get(counter);
  const moment = () => ({ now: Date.now(), isLost: (owner: string) => owner !== node && !nodes.has(owner) });
  const apply = <Outcome>({ outcome, states }: Changed<Outcome>): Outcome => {
    for (const [counter, state] of states) counters.set(counter, state);
    return outcome;
  };
  const check = (instance: AgentAddress) => {
    if ((owners.get(keyOf(instance)) ?? node) !== node) throw new GoondanError('E_FENCED', 'Another node owns it.');
  };
  return {
    async reserve(instance, reservation) {
      check(instance);
      return apply(reserveClaims(read, reservation, node, moment()));
    },
    async begin(instance, reservations) {
      check(instance);
      if (!apply(beginReservations(read, reservations, moment()))) throw new GoondanError('E_FENCED', 'It was ended.');
    },
    settle: async (reservation, amounts) => apply(endReservation(read, reservation, amounts, moment())),
    release: async (reservation) => apply(endReservation(read, reservation, undefined, moment())),
    async abandon(reservations) {
      for (const reservation of reservations) apply(abandonReservation(read, reservation, moment()));
    },
    raise: async (counter, to) => apply(raiseLimit(read, { ...counter, to }, moment())),
    async drop(beginnings) {
      const dropped = [...counters.keys()].filter((name) => beginnings.some((each) => name.startsWith(each)));
      for (const name of dropped) counters.delete(name);
    },
  };
}

export function memoryQuestions({ questions, questionListeners }: MemorySwarm): QuestionStore {
  const tell = (id: string, record?: QuestionRecord) => {
    for (const listener of questionListeners) listener(id, record);
  };
  const write = (record: QuestionRecord) => {
    questions.set(record.id, record);
    tell(record.id, record);
  };
  return {
    list: async () => [...questions.values()],
    put: async (record) => write(record),
    async answer(record) {
      const kept = questions.get(record.id);
      if (kept === undefined || kept.answer !== undefined) return false;
      write(record);
      return true;
    },
    async remove(id) {
      questions.delete(id);
      tell(id);
    },
    onChange(listener) {
      questionListeners.add(listener);
      return () => void questionListeners.delete(listener);
    },
  };
}

function keyOf({ agentName, instanceKey }: AgentAddress): string {
  return JSON.stringify([agentName, instanceKey]);
}
