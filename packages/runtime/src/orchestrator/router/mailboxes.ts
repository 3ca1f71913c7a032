/**
 * The one way into an agent's inbox, whoever sends: a client, a connector, another agent.
 *
 * Invariants:
 * 1. What is refused was not written; what is accepted is durable before anybody is told, and before it is handled.
 * 2. One instance's events go to its process in the order in which they were accepted.
 * 3. An event that was accepted before is not handled again. One that still waits, waits once; one that was handled is
 *    given to its process again only when somebody waits for the answer, which is then the one it had.
 * 4. No secret of the swarm is written down, whoever sent it.
 * 5. Once it is closed, what nobody waits for is accepted and left for the next start.
 * 6. What was cancelled is marked in the inbox before whoever cancelled it is told: its turn ends as cancelled, whatever
 *    dies meanwhile.
 */
import { type AgentAddress, type AgentEvent, GoondanError, type JsonObject } from '@goondan/types';
import { fromFrameError } from '../../ipc/check/frame-error.ts';
import { type Mask, maskJson } from '../../log/mask-secrets.ts';
import type { Journal } from '../../workspace/journal/journal.ts';
import { addressKey } from '../address-key.ts';
import { findAgentProblem } from '../find-agent-problem.ts';
import { refuseKey } from '../find-key-problem.ts';
import type { Instances } from '../instances/instances.ts';
import type { Accepted } from '../../workspace/inbox/inbox.ts';
import type { InboxEntry } from '../../workspace/inbox/inbox-lines.ts';
import { refuseWhenLineFull } from '../supervision/process-slots.ts';

export interface MailboxLimits {
  /** Instances that wait for a process; more are refused with `E_PROCESSES_FULL`. */
  readonly waitingInstances: number;
  /** Events of one instance on their way to the disk; more are refused with `E_INBOX_FULL`. */
  readonly acceptingPerInstance: number;
}

export const defaultMailboxLimits: MailboxLimits = { waitingInstances: 10_000, acceptingPerInstance: 1_000 };

interface Accepting {
  last: Promise<unknown>;
  count: number;
}

/** What it has to know of the swarm, at any time. */
export interface MailboxWorld {
  readonly agents: () => readonly string[];
  /** Hides the secrets of all agents and connections. */
  readonly mask: Mask;
  /** Decides whether the trace of an event from outside is exported; as it is when nobody exports anything. */
  readonly sample: (event: AgentEvent) => AgentEvent;
  /** Called before an event is accepted; while the instance's inbox could not be read, tries to. Throws why it still cannot be. */
  readonly readUnread: (at: AgentAddress) => Promise<void>;
  /** Its event was refused because of this. Must not throw. */
  readonly refused: (at: AgentAddress, thrown: unknown) => void;
  /** That a cancel could not be written down. Must not throw. */
  readonly report: (at: AgentAddress, problem: string) => void;
}

/** Of the words about a cancel, so much is written down. */
const LONGEST_REASON = 1_000;

export class Mailboxes {
  readonly #journal: Pick<Journal, 'accept' | 'cancel'>;
  readonly #instances: Instances;
  readonly #world: MailboxWorld;
  readonly #limits: MailboxLimits;
  readonly #accepting = new Map<string, Accepting>();
  #isClosed = false;

  constructor(
    journal: Pick<Journal, 'accept' | 'cancel'>,
    instances: Instances,
    world: MailboxWorld,
    limits: MailboxLimits = defaultMailboxLimits,
  ) {
    this.#journal = journal;
    this.#instances = instances;
    this.#world = world;
    this.#limits = limits;
  }

  /**
   * Resolves when the event is durable; whether it was accepted before is the answer.
   * **Errors** — `E_AGENT_UNKNOWN`, `E_INSTANCE_KEY`, `E_PROCESSES_FULL`, `E_INBOX_FULL`, those of the disk: `E_STORE_CORRUPT`
   * and its kin while the inbox is damaged.
   */
  async accept(to: AgentAddress, sent: AgentEvent, isAwaited: boolean): Promise<{ readonly duplicate: boolean }> {
    this.#check(to);
    const event = withoutSecrets(this.#world.sample(sent), this.#world.mask);
    return this.#inOrder(to, async () => {
      const accepted = await this.#write(to, event);
      const work = workOf(accepted, event, isAwaited);
      if (work !== undefined && (isAwaited || !this.#isClosed)) this.#instances.post(to, { type: 'work', ...work });
      return { duplicate: accepted.duplicate };
    });
  }

  async #write(to: AgentAddress, event: AgentEvent): Promise<Accepted> {
    try {
      await this.#world.readUnread(to);
      return await this.#journal.accept(to, event);
    } catch (error) {
      this.#world.refused(to, error);
      throw error;
    }
  }

  /**
   * Cancels the turn of an event, running or still waiting; false when there is none. Resolves when that is durable; when
   * the disk fails it is cancelled all the same, for as long as this process lives, and reported.
   */
  async cancel(at: AgentAddress, eventId: string, said: string): Promise<boolean> {
    const isQueued = (isNew: boolean) =>
      this.#instances
        .find(at)
        ?.state.queue.some(({ event, cancelled }) => event.id === eventId && !(isNew && cancelled !== undefined)) ===
      true;
    if (!isQueued(true)) return false;
    const reason = this.#world.mask(said).slice(0, LONGEST_REASON);
    // First: a turn that runs need not wait for the disk to be told.
    this.#instances.post(at, { type: 'cancel', eventId, reason });
    try {
      // One whose turn is over by then is on the disk as what it was.
      await this.#inOrder(at, async () => isQueued(false) && this.#journal.cancel(at, eventId, reason));
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      this.#world.report(
        at,
        `That ${eventId} was cancelled cannot be written down, and is not known after a restart: ${problem}`,
      );
    }
    return true;
  }

  /** Runs `action` while nothing is being accepted for the instance: what was is with it, what comes waits. */
  between<Value>(to: AgentAddress, action: () => Promise<Value>): Promise<Value> {
    return this.#inOrder(to, action);
  }

  close(): void {
    this.#isClosed = true;
  }

  #check({ agentName, instanceKey }: AgentAddress): void {
    const unknown = findAgentProblem(agentName, this.#world.agents());
    if (unknown !== undefined) throw fromFrameError(unknown);
    refuseKey(instanceKey);
    const instance = this.#instances.find({ agentName, instanceKey });
    const hasPlace = instance !== undefined && instance.status !== 'asleep';
    if (!hasPlace) refuseWhenLineFull(this.#instances.waiting, this.#limits.waitingInstances);
  }

  /** Invariant 2: one after the other for each instance. */
  async #inOrder<Value>(to: AgentAddress, accept: () => Promise<Value>): Promise<Value> {
    const key = addressKey(to);
    const line = this.#accepting.get(key) ?? { last: Promise.resolve(), count: 0 };
    if (line.count >= this.#limits.acceptingPerInstance) {
      throw new GoondanError(
        'E_INBOX_FULL',
        `${line.count} events for agent "${to.agentName}" are being written already.`,
        { retryable: true },
      );
    }
    this.#accepting.set(key, line);
    line.count += 1;
    const accepted = line.last.then(accept);
    line.last = accepted.catch(() => undefined);
    try {
      return await accepted;
    } finally {
      line.count -= 1;
      if (line.count === 0) this.#accepting.delete(key);
    }
  }
}

/** Invariant 4. What somebody wrote, not what the event is. */
function withoutSecrets(event: AgentEvent, mask: Mask): AgentEvent {
  const { input, metadata, auth } = event;
  // An object with every text in it masked is an object.
  const masked = (value: JsonObject) => maskJson(value, mask) as JsonObject;
  return {
    ...event,
    ...(input === undefined ? {} : { input: mask(input) }),
    ...(metadata === undefined ? {} : { metadata: masked(metadata) }),
    ...(auth === undefined ? {} : { auth: masked(auth) }),
  };
}

/** Invariant 3. */
function workOf(accepted: Accepted, event: AgentEvent, isAwaited: boolean): InboxEntry | undefined {
  if (!accepted.duplicate) return { seq: accepted.seq, event };
  return accepted.pending ?? (isAwaited ? { seq: HANDLED, event } : undefined);
}

/** No place in the inbox any more. */
const HANDLED = 0;
