/** The handle of a swarm that runs in this process. The control socket offers it to other processes. */
import { type AgentAddress, GoondanError } from '@goondan/types';
import { fromFrameError } from '../../ipc/check/frame-error.ts';
import { defined } from '../../json/defined.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import { shortIdOfEvent } from '../../ports/turn-ids.ts';
import { type DeadLetter, retryOf } from '../../workspace/records/dead-letter.ts';
import type { ReloadResult } from '../../control/reload-result.ts';
import { pendingInputs, takenKey } from '../../workspace/journal/instance-refusals.ts';
import type { Store } from '../../store/store.ts';
import { acceptanceOf, askAgent } from '../swarm/ask-agent.ts';
import { addressKey } from '../address/address-key.ts';
import { findAgentProblem, refuseKey } from '../address/find-address-problem.ts';
import type { Instance } from '../instances/instance.ts';
import { turnOf } from '../instances/swarm-listener.ts';
import type { SwarmAgents } from '../swarm/swarm-agents.ts';
import { findEventId, findInInstances } from './find-queued-turn.ts';
import { makeEvent } from './make-event.ts';
import { plainDelivery } from '../../control/plain-delivery.ts';
import { typedAsk } from '../../control/typed-ask.ts';
import { typedWatch } from '../../control/watch-swarm.ts';
import { toAgentAddress, toInstanceAddress } from '../../control/instance-address.ts';
import { summariseDeadLetter } from '../../control/summarise-dead-letter.ts';
import type {
  DeadLetterSummary,
  Delivery,
  InstanceAddress,
  InstanceChoice,
  InstanceStatus,
  Swarm,
  SwarmStatus,
} from '../../control/swarm.ts';
import { describeProblem } from '../supervision/describe-problem.ts';

export interface LocalSwarmDeps {
  readonly swarm: SwarmAgents;
  readonly store: Pick<Store, 'admin' | 'deadLetters'>;
  /** Returns the instances with dead letters; absent: all instances of this node are looked at. */
  findLettered?(): Promise<readonly AgentAddress[]>;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Returns the agent for requests that do not name one. */
  entryAgent(): string;
  /** Returns the default grace for processes that have to end. */
  graceMs(): number;
  /** Returns the connections, and the facts about the swarm that do not change. */
  describe(): Omit<SwarmStatus, 'instances' | 'agents' | 'entryAgent'>;
  reload(): Promise<ReloadResult>;
  /** Stops the swarm. A second call may shorten the grace, unless it is a handover. */
  stop(graceMs: number, isHandover: boolean): Promise<void>;
  readonly stopped: Promise<void>;
  /** Returns the reason of a stop that was not requested. */
  failure?(): GoondanError | undefined;
}

export function localSwarm(deps: LocalSwarmDeps): Swarm {
  const {
    swarm,
    store: { admin, deadLetters },
  } = deps;
  const watches = new Set<() => void>();
  /** Restarts whose process has not ended yet, by conversation. */
  const restarts = new Map<string, Promise<void>>();
  let isStopping = false;
  let isStopped = false;
  // All watches share one listener, because the promise exists as long as the swarm, and every listener would stay in
  // memory.
  void deps.stopped.then(() => {
    isStopped = true;
    for (const end of watches) end();
  });

  return {
    async deliver(delivery) {
      const { to, event } = await open(delivery);
      const { duplicate, traceId } = await swarm.accept(to, event, false);
      return acceptanceOf(to, { ...event, traceId }, duplicate);
    },

    ask: typedAsk(async (delivery, { signal, left, soFar, onAccepted, onCancelled, onNotice } = {}) => {
      if (signal?.aborted) throw new GoondanError('E_CANCELLED', 'The request was cancelled before it was sent.');
      const { to, event } = await open(delivery);
      const callbacks = { onAccepted, onCancelled, onNotice };
      return askAgent(swarm, to, event, { cancel: signal, left, soFar, reason: BY_A_CLIENT, ...callbacks });
    }, plainDelivery),

    watch: typedWatch(async (filter, listener) => {
      const over = Promise.withResolvers<void>();
      const unwatch = swarm.watchers.add(filter, listener);
      const end = () => {
        unwatch();
        watches.delete(end);
        over.resolve();
      };
      if (isStopped) end();
      else watches.add(end);
      return { end, ended: over.promise };
    }),

    async cancel({ eventId, reason = BY_A_CLIENT, ...choice }) {
      const { agent = deps.entryAgent(), instanceKey = 'default' } = choice;
      const address = checkAddress({ agent, instanceKey });
      const instance = swarm.instances.find(address);
      if (eventId === undefined) {
        return instance?.running !== undefined && swarm.cancel(address, instance.running.id, reason);
      }
      const id = findEventId(eventId, instance && queueOf(instance));
      const among = [...swarm.instances.all()].filter((each) => isChosen(each.address, choice));
      const turn =
        id === undefined
          ? findInInstances(
              eventId,
              among.map((each) => [each.address, queueOf(each)]),
            )
          : { address, id };
      return turn !== undefined && swarm.cancel(turn.address, turn.id, reason);
    },

    status: async () => ({
      ...deps.describe(),
      entryAgent: deps.entryAgent(),
      agents: swarm.agents,
      instances: [...swarm.instances.all()].filter(({ status }) => status !== 'asleep').map(describe),
    }),

    async instances() {
      return swarm.list().map((each) => {
        const instance = swarm.instances.find(each);
        if (instance !== undefined) return describe(instance);
        return { ...toInstanceAddress(each), status: each.status, queued: 0, crashes: 0 };
      });
    },

    async deleteInstance({ agent, instanceKey, ...options }) {
      if (isStopping) throw stopped('conversations can no longer be deleted');
      const at = toAgentAddress({ agent, instanceKey });
      const { length: waiting } = swarm.instances.find(at)?.state.queue ?? [];
      // Checked here first. Otherwise the instance's process would be ended before the same error is thrown.
      if (waiting > 0 && options.force !== true) throw pendingInputs(at, waiting);
      return swarm.discard(at, { graceMs: deps.graceMs() }, () => admin.delete(at, options));
    },

    async forkInstance({ agent, instanceKey, ...options }) {
      if (isStopping) throw stopped('conversations can no longer be forked');
      const to = toAgentAddress({ agent, instanceKey: options.as });
      refuseKey(to.instanceKey);
      // Checked here first. Otherwise the existing instance's process would be ended before the same error is thrown.
      if (await admin.has(to)) throw takenKey(to);
      const fork = () => admin.fork(toAgentAddress({ agent, instanceKey }), options);
      const forked = await swarm.admit(to, { graceMs: deps.graceMs() }, fork);
      const moment = forked.seq === undefined ? 'as it is now' : `as it was after event ${forked.seq}`;
      swarm.report('info', 'instance.forked', `This conversation is a fork of "${instanceKey}", ${moment}.`, to);
      return forked;
    },

    async deadLetters(choice = {}) {
      const found: DeadLetterSummary[] = [];
      for (const at of chosen(choice, await deps.findLettered?.())) {
        // Reads are served from the page cache without waiting. This pause lets other work run between instances.
        await new Promise((resolve) => void setImmediate(resolve));
        for (const letter of await lettersOf(at, choice)) found.push(summariseDeadLetter(at, letter));
      }
      return found;
    },

    async retryDeadLetter({ eventId, ...instance }) {
      const at = checkAddress(instance);
      const letter = await findLetter(at, eventId);
      if (letter === undefined) return false;
      // Accept first, then remove. After a crash in between, the letter still exists, and accepting the same id again
      // changes nothing.
      await swarm.accept(at, retryOf(letter), false);
      await takeLetter(at, letter);
      return true;
    },

    async dropDeadLetter({ eventId, ...instance }) {
      const at = checkAddress(instance);
      const letter = await findLetter(at, eventId);
      if (letter === undefined) return false;
      await takeLetter(at, letter);
      const { id, traceId } = letter.event;
      const message = `The dead letter of turn ${shortIdOfEvent(id)} was dropped.`;
      swarm.report('info', 'event.dropped', message, turnOf(at, id, traceId));
      return true;
    },

    questions: async () => swarm.questions.pending(),
    answer: (reply) => swarm.questions.answer(reply),
    grants: async () => swarm.questions.grants.list(),
    revoke: (grant) => swarm.questions.grants.revoke(grant),

    async restart({ fresh = false, ...choice } = {}) {
      const restarted = await Promise.all(chosen(choice).map((at) => (fresh ? beginAnew(at) : replace(at))));
      return restarted.filter(Boolean).length;
    },

    async reload() {
      if (isStopping) throw stopped('nothing can be changed');
      return deps.reload();
    },

    async stop({ graceMs = deps.graceMs(), handover = false } = {}) {
      if (handover && deps.describe().oneShot !== true) {
        throw new GoondanError('E_SWARM_RUNNING', 'This swarm serves, so no other process takes its place.');
      }
      isStopping = true;
      await deps.stop(graceMs, handover);
    },

    stopped: deps.stopped,
    get failure() {
      return deps.failure?.();
    },
  };

  async function open(delivery: Delivery): Promise<ReturnType<typeof makeEvent>> {
    if (isStopping) {
      // A client that is refused may rely on it: from then on, no turn begins.
      await Promise.race([swarm.lastTurnsBegun.promise, deps.stopped]);
      throw stopped('no more input is accepted');
    }
    return makeEvent(delivery, deps.entryAgent(), deps);
  }

  function describe(instance: Instance): InstanceStatus {
    const waiting = swarm.questions.countPending(instance.address);
    const limitWait = swarm.counters.waitOf(instance.address);
    const { lastBlocked: last } = instance.state;
    const lastBlocked = last && { code: last.code, agoMs: Math.round(deps.clock.elapsed() - last.at) };
    return {
      ...describeInstance(instance),
      ...defined({ lastBlocked }),
      ...(waiting === 0 ? {} : { questions: waiting }),
      ...(limitWait === undefined ? {} : { limitWait: { ...limitWait, waitedMs: Math.round(limitWait.waitedMs) } }),
    };
  }

  /** Reads the dead letters of one instance. An error here does not hide the letters of other instances. */
  async function lettersOf(at: AgentAddress, { instanceKey }: InstanceChoice): Promise<readonly DeadLetter[]> {
    try {
      return await deadLetters.list(at);
    } catch (error) {
      if (instanceKey !== undefined || !GoondanError.is(error)) throw error;
      swarm.report('warn', 'store.damaged', `Its dead letters cannot be read: ${error.code}: ${error.message}`, at);
      return [];
    }
  }

  /**
   * Removes a dead letter while the instance has no process, because a running agent process owns the file of letters.
   */
  async function takeLetter(at: AgentAddress, { event: { id } }: DeadLetter): Promise<void> {
    await swarm.instances.whileAsleep(at, { graceMs: deps.graceMs() }, () => deadLetters.drop(at, id));
  }

  async function findLetter(at: AgentAddress, typed: string): Promise<DeadLetter | undefined> {
    const letters = await deadLetters.list(at);
    const id = findEventId(
      typed,
      letters.map(({ event }) => event.id),
    );
    return letters.find(({ event }) => event.id === id);
  }

  async function beginAnew(at: AgentAddress): Promise<boolean> {
    await restartOnce(`fresh ${addressKey(at)}`, at, () =>
      swarm.resetInstance(at, { graceMs: deps.graceMs() }, () => admin.reset(at, () => swarm.questions.grants.end(at))),
    );
    return true;
  }

  async function replace(at: AgentAddress): Promise<boolean> {
    const instance = swarm.instances.find(at);
    if (instance === undefined || instance.status === 'asleep') return false;
    // Resets the count of crashes, because the person who retries may have fixed their cause.
    const forgive = () => swarm.forgive(at);
    // Without a process, the instance keeps its place in line.
    if (!instance.hasProcess) await forgive();
    else {
      await restartOnce(addressKey(at), at, () =>
        swarm.instances.whileAsleep(at, { graceMs: deps.graceMs() }, forgive),
      );
    }
    return true;
  }

  /**
   * Restarts a conversation so that restarts cannot starve its input, however often they come: one that arrives before the
   * process of another has ended joins it, and a process that starts for waiting input begins its turn first.
   */
  function restartOnce(key: string, at: AgentAddress, restart: () => Promise<void>): Promise<void> {
    const known = restarts.get(key);
    if (known !== undefined) return known;
    const isStarting = () => {
      const instance = swarm.instances.find(at);
      return instance?.status === 'starting' && instance.state.queue.length > 0;
    };
    const restarted = swarm.instances
      .until(() => !isStarting())
      .then(restart)
      .finally(() => restarts.delete(key));
    restarts.set(key, restarted);
    return restarted;
  }

  function chosen(choice: InstanceChoice, all: readonly AgentAddress[] = swarm.list()): readonly AgentAddress[] {
    if (choice.agent !== undefined) checkAddress({ agent: choice.agent, instanceKey: '' });
    return all.filter((each) => isChosen(each, choice));
  }

  function checkAddress(instance: InstanceAddress): AgentAddress {
    const unknown = findAgentProblem(instance.agent, swarm.agents);
    if (unknown !== undefined) throw fromFrameError(unknown);
    return toAgentAddress(instance);
  }
}

const BY_A_CLIENT = 'cancelled by a client';

function isChosen({ agentName, instanceKey }: AgentAddress, choice: InstanceChoice): boolean {
  return (choice.agent ?? agentName) === agentName && (choice.instanceKey ?? instanceKey) === instanceKey;
}

function describeInstance({ address, status, pid, state, extensionStatuses }: Instance): InstanceStatus {
  const { queue, restarts, startError } = state;
  const [{ blocked } = {}] = queue;
  const crash = blocked === undefined ? undefined : `Its last process did not answer: it was ${blocked}.`;
  return {
    ...toInstanceAddress(address),
    status,
    queued: queue.length,
    crashes: restarts.crashes,
    ...defined({ pid, problem: startError ? describeProblem(startError) : crash, extensions: extensionStatuses }),
  };
}

function queueOf({ state }: Instance): readonly string[] {
  return state.queue.map(({ event }) => event.id);
}

function stopped(what: string): GoondanError {
  return new GoondanError('E_SWARM_STOPPED', `The swarm is stopping: ${what}.`);
}
