/** A running swarm as its own process controls it: what the control socket offers to others, too. */
import { type AgentAddress, GoondanError } from '@goondan/types';
import { fromFrameError } from '../../ipc/check/frame-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import { type DeadLetter, retryOf } from '../../workspace/records/dead-letter.ts';
import type { PlanReconcile } from '../../config/plan-reconcile.ts';
import type { ForkedInstance, ForkOptions } from '../../workspace/journal/fork-instance.ts';
import { pendingInputs, takenKey } from '../../workspace/journal/instance-refusals.ts';
import type { DeletedInstance, DeleteOptions, Journal } from '../../workspace/journal/journal.ts';
import { acceptanceOf, askAgent } from '../swarm/ask-agent.ts';
import { findAgentProblem } from '../address/find-agent-problem.ts';
import { refuseKey } from '../address/find-key-problem.ts';
import type { Instance } from '../instances/instance.ts';
import type { SwarmAgents } from '../swarm/swarm-agents.ts';
import { makeEvent } from './make-event.ts';
import type {
  Acceptance,
  ApprovalAnswerOptions,
  AskOptions,
  DeadLetterSummary,
  Delivery,
  InstanceChoice,
  InstanceStatus,
  SwarmControl,
  SwarmStatus,
  TurnEnd,
} from '../../control/swarm-control.ts';
import { describeProblem } from '../supervision/describe-problem.ts';

export interface LocalControlParts {
  readonly swarm: SwarmAgents;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Gets what names no agent. */
  entryAgent(): string;
  /** For what has to go, when nobody says how long. */
  graceMs(): number;
  /** Everything about the swarm that does not change, and its connections. */
  describe(): Omit<SwarmStatus, 'instances' | 'agents' | 'entryAgent'>;
  reload(): Promise<PlanReconcile>;
  /** Ends everything. Asked again it hurries. */
  stop(graceMs: number): Promise<void>;
  readonly stopped: Promise<void>;
  /** Why it stopped by itself. */
  failure?(): GoondanError | undefined;
}

export function localControl(parts: LocalControlParts): SwarmControl {
  const { swarm, journal } = parts;
  let isStopping = false;

  const control: SwarmControl = {
    deliver,
    ask,
    watch: (filter, listener) => swarm.watchers.add(filter, listener),
    cancel,
    status: () => ({
      ...parts.describe(),
      entryAgent: parts.entryAgent(),
      agents: swarm.agents,
      instances: [...swarm.instances.all()].filter(({ status }) => status !== 'asleep').map(describe),
    }),
    async instances() {
      return swarm.list().map((each) => {
        const instance = swarm.instances.find(each);
        return instance === undefined ? { ...each, queued: 0, crashes: 0 } : describe(instance);
      });
    },
    deleteInstance,
    forkInstance,
    deadLetters,
    retryDeadLetter,
    dropDeadLetter,
    approvals: async () => swarm.approvals.pending(),
    approve: (id, options) => answer(id, 'approved', options),
    deny: (id, options) => answer(id, 'denied', options),
    restart,
    reload: async () => {
      if (isStopping) throw stopped('nothing is changed any more');
      return parts.reload();
    },
    stopped: parts.stopped,
    get failure() {
      return parts.failure?.();
    },
    stop: async ({ graceMs = parts.graceMs() } = {}) => {
      isStopping = true;
      await parts.stop(graceMs);
    },
  };
  return control;

  async function deliver(delivery: Delivery): Promise<Acceptance> {
    const { to, event } = open(delivery);
    const { duplicate } = await swarm.accept(to, event, false);
    return acceptanceOf(to, event, duplicate);
  }

  async function ask(delivery: Delivery, options: AskOptions = {}): Promise<TurnEnd> {
    const { signal, ...told } = options;
    signal?.throwIfAborted();
    const { to, event } = open(delivery);
    return askAgent(swarm, to, event, { ...told, cancel: signal, reason: BY_A_CLIENT });
  }

  async function answer(
    id: string,
    decision: 'approved' | 'denied',
    { by = 'control', note }: ApprovalAnswerOptions = {},
  ): Promise<boolean> {
    for (const text of [by, note ?? '']) {
      if (typeof text === 'string' && text.length <= LONGEST_NOTE) continue;
      throw new GoondanError('E_CONTROL_REQUEST', `An answer is a text of at most ${LONGEST_NOTE} characters.`);
    }
    return swarm.approvals.decide(id, { decision, by, ...(note === undefined ? {} : { note }) });
  }

  function describe(instance: Instance): InstanceStatus {
    const waiting = swarm.approvals.countPending(instance.address);
    return { ...describeInstance(instance), ...(waiting === 0 ? {} : { approvals: waiting }) };
  }

  function open(delivery: Delivery): ReturnType<typeof makeEvent> {
    if (isStopping) throw stopped('nothing is accepted any more');
    return makeEvent(delivery, parts.entryAgent(), parts);
  }

  async function cancel(at: InstanceChoice & { readonly eventId?: string }, reason = BY_A_CLIENT): Promise<boolean> {
    const address = checkAddress({
      agentName: at.agent ?? parts.entryAgent(),
      instanceKey: at.instanceKey ?? 'default',
    });
    const eventId = at.eventId ?? swarm.instances.find(address)?.running?.id;
    return eventId !== undefined && swarm.cancel(address, eventId, reason);
  }

  async function deleteInstance(at: AgentAddress, options: DeleteOptions = {}): Promise<DeletedInstance> {
    if (isStopping) throw stopped('nothing is deleted any more');
    const { length: waiting } = swarm.instances.find(at)?.state.queue ?? [];
    // Else its process would be ended first, and refused would be all the same.
    if (waiting > 0 && options.force !== true) throw pendingInputs(at, waiting);
    return swarm.discard(at, { graceMs: parts.graceMs() }, () => journal.delete(at, options));
  }

  async function forkInstance(from: AgentAddress, options: ForkOptions): Promise<ForkedInstance> {
    if (isStopping) throw stopped('nothing is forked any more');
    const to = { agentName: from.agentName, instanceKey: options.as };
    refuseKey(to.instanceKey);
    // Else the process of the one that is there would be ended first, and refused would be all the same.
    if (await journal.has(to)) throw takenKey(to);
    const forked = await swarm.admit(to, { graceMs: parts.graceMs() }, () => journal.fork(from, options));
    const moment = forked.seq === undefined ? 'as it is now' : `at ${forked.seq}`;
    swarm.report('info', 'instance.forked', `Its conversation is that of "${from.instanceKey}" ${moment}.`, to);
    return forked;
  }

  async function deadLetters(choice: InstanceChoice = {}): Promise<readonly DeadLetterSummary[]> {
    const found: DeadLetterSummary[] = [];
    for (const at of chosen(choice)) {
      // Reading ends in the page cache: without this nothing else would run until the last one is read.
      await new Promise((resolve) => void setImmediate(resolve));
      for (const { event, crashes, reason, deadAt } of await lettersOf(at, choice)) {
        found.push({
          agent: at.agentName,
          instanceKey: at.instanceKey,
          eventId: event.id,
          crashes,
          reason,
          deadAt: deadAt.toISOString(),
          ...(event.input === undefined ? {} : { input: event.input }),
        });
      }
    }
    return found;
  }

  /** One whose letters cannot be read keeps nobody from seeing those of the others. */
  async function lettersOf(at: AgentAddress, { instanceKey }: InstanceChoice): Promise<readonly DeadLetter[]> {
    try {
      return await journal.deadLetters.list(at);
    } catch (error) {
      if (instanceKey !== undefined || !(error instanceof GoondanError)) throw error;
      swarm.report('warn', 'store.damaged', `Its dead letters cannot be read: ${error.code}: ${error.message}`, at);
      return [];
    }
  }

  async function retryDeadLetter(at: AgentAddress, eventId: string): Promise<boolean> {
    const letter = (await journal.deadLetters.list(checkAddress(at))).find(({ event }) => event.id === eventId);
    if (letter === undefined) return false;
    // In this order: a crash in between leaves a letter whose retry is accepted, and retrying it again changes nothing.
    await swarm.accept(at, retryOf(letter), false);
    await takeLetter(at, eventId);
    return true;
  }

  async function dropDeadLetter(at: AgentAddress, eventId: string): Promise<boolean> {
    const isDropped = await takeLetter(checkAddress(at), eventId);
    if (isDropped) swarm.report('info', 'event.dropped', `Event ${eventId}, which was put aside, was dropped.`, at);
    return isDropped;
  }

  /** The letters are the agent process's own file: it is touched while there is none. */
  async function takeLetter(at: AgentAddress, eventId: string): Promise<boolean> {
    const letters = await journal.deadLetters.list(at);
    if (!letters.some(({ event }) => event.id === eventId)) return false;
    await swarm.instances.whileAsleep(at, { graceMs: parts.graceMs() }, () => journal.deadLetters.drop(at, eventId));
    return true;
  }

  async function restart(choice: InstanceChoice & { readonly fresh?: boolean } = {}): Promise<number> {
    const { fresh = false, ...which } = choice;
    const addresses = chosen(which);
    const restarted = await Promise.all(addresses.map((at) => (fresh ? beginAnew(at) : replace(at))));
    return restarted.filter(Boolean).length;
  }

  async function beginAnew(at: AgentAddress): Promise<boolean> {
    await swarm.resetInstance(at, { graceMs: parts.graceMs() }, () => journal.reset(at));
    return true;
  }

  async function replace(at: AgentAddress): Promise<boolean> {
    const instance = swarm.instances.find(at);
    if (instance === undefined || instance.status === 'asleep') return false;
    // The person who asks for it may have mended the cause of the crash.
    await swarm.instances.whileAsleep(at, { graceMs: parts.graceMs() }, () => swarm.forgive(at));
    return true;
  }

  function chosen({ agent, instanceKey }: InstanceChoice): readonly AgentAddress[] {
    if (agent !== undefined) checkAddress({ agentName: agent, instanceKey: '' });
    return swarm
      .list()
      .filter((each) => agent === undefined || each.agentName === agent)
      .filter((each) => instanceKey === undefined || each.instanceKey === instanceKey);
  }

  function checkAddress(address: AgentAddress): AgentAddress {
    const unknown = findAgentProblem(address.agentName, swarm.agents);
    if (unknown !== undefined) throw fromFrameError(unknown);
    return address;
  }
}

const LONGEST_NOTE = 4_000;
const BY_A_CLIENT = 'cancelled by a client';

function describeInstance({ address, status, pid, state, extensionStatuses }: Instance): InstanceStatus {
  const { queue, restarts, startError } = state;
  return {
    ...address,
    status,
    queued: queue.length,
    crashes: restarts.crashes,
    ...(pid === undefined ? {} : { pid }),
    ...(startError === undefined ? {} : { problem: describeProblem(startError) }),
    ...(extensionStatuses && { extensions: extensionStatuses }),
  };
}

function stopped(what: string): GoondanError {
  return new GoondanError('E_SWARM_STOPPED', `The swarm is being stopped: ${what}.`);
}
