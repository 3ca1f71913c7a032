/**
 * The only way into an agent's inbox, for clients, connectors and other agents.
 *
 * Invariants:
 * 1. A rejected event was not written. An accepted event is durable before it is acknowledged, and before it is
 *    handled.
 * 2. The events of one instance go to its process in the order of acceptance.
 * 3. An event that was accepted before is not handled again. A pending event is not added a second time. A handled
 *    event is sent to its process again only if a caller waits for the answer, and the process then repeats its old
 *    answer.
 * 4. No secret of the swarm is written to disk, whoever sent it.
 * 5. After `close`, events without a waiting caller are accepted and left for the next start.
 * 6. A cancel is marked in the inbox before it is confirmed: the turn ends as cancelled, whichever process dies
 *    meanwhile.
 * 7. The files of an event are stored before the event is written, so no accepted event names bytes that are not durable.
 * 8. A second delivery of a queued event reads and writes nothing. The first event of an instance that sleeps may have to
 *    read megabytes of its log, which blocks the event loop. So these events take turns, one in a tick.
 */
import { shortIdOfEvent } from '../../ports/turn-ids.ts';
import {
  type AgentAddress,
  type AgentEvent,
  type ContentPart,
  GoondanError,
  type JsonObject,
  type OutputDemand,
  sourceOfPart,
} from '@goondan/types';
import { checkContent } from '../../files/check-content.ts';
import { readSource } from '../../files/read-source.ts';
import { fromFrameError } from '../../ipc/check/frame-error.ts';
import { readDemand } from '../../json/read-demand.ts';
import { type Mask, maskJson } from '../../log/mask-secrets.ts';
import type { Blobs } from '../../store/blobs.ts';
import type { ConnectionFence } from '../../store/cluster-store.ts';
import type { Inbox } from '../../store/inbox.ts';
import type { Placement } from '../../store/placement.ts';
import { takeContent } from '../../store/take-content.ts';
import { addressKey } from '../address/address-key.ts';
import { type CurrentPlan, fileLimitsOf } from '../plan/current-plan.ts';
import { findAgentProblem, refuseKey } from '../address/find-address-problem.ts';
import type { Instances } from '../instances/instances.ts';
import { type FinishedTurn, type Report, type SwarmListener, turnOf } from '../instances/swarm-listener.ts';
import type { Accepted } from '../../workspace/inbox/open-inbox.ts';
import type { InboxEntry } from '../../workspace/inbox/inbox-line.ts';
import { refuseWhenLineFull } from '../supervision/process-slots.ts';
import { isDamage } from '../supervision/start-failure.ts';
import type { UnreadInboxes } from './unread-inboxes.ts';

/** The maximum number of instances that wait for a process; more are rejected with `E_PROCESSES_FULL`. */
const MOST_WAITING = 10_000;
/** The maximum number of events of one instance that are being written; more are rejected with `E_INBOX_FULL`. */
const MOST_ACCEPTING = 1_000;

export interface MailboxesDeps {
  readonly inbox: Pick<Inbox, 'accept' | 'checkRoom' | 'cancel' | 'handled'>;
  readonly blobs: Pick<Blobs, 'put' | 'use' | 'named' | 'size'>;
  readonly placement: Pick<Placement, 'claim'>;
  readonly instances: Instances;
  readonly unread: Pick<UnreadInboxes, 'readAgain' | 'refused'>;
  readonly currentPlan: CurrentPlan;
  /** Decides whether the trace of an event from outside is exported; without an export, returns the event unchanged. */
  readonly sample: (event: AgentEvent) => AgentEvent;
  readonly report: Report;
  /** The other nodes of the swarm; absent if it cannot have any. */
  readonly elsewhere?: Elsewhere;
}

export interface Elsewhere {
  /** Returns true if the instance does not belong to this node. */
  has(at: AgentAddress): boolean;
  /** Called when an event was accepted for an instance of another node, which the store wakes. Must not throw. */
  accepted(to: AgentAddress, event: AgentEvent): void;
  /**
   * Returns true if this node has queued every event before this number. Other nodes may have accepted some of them.
   */
  isNext(at: AgentAddress, seq: number): boolean;
  /** Reads the input of an own instance, and queues it in order. */
  wake(at: AgentAddress): void;
}

/** The maximum length of a cancel's stored reason, in characters. */
const LONGEST_REASON = 1_000;

export class Mailboxes implements Pick<SwarmListener, 'turnFinished'> {
  readonly #deps: MailboxesDeps;
  readonly #instances: Instances;
  readonly #accepting = new Map<string, { last: Promise<unknown>; count: number }>();
  /** Resolves when the last instance that was asleep had its tick (invariant 8). */
  #lastWoken: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(deps: MailboxesDeps) {
    this.#deps = deps;
    this.#instances = deps.instances;
  }

  /**
   * Accepts an event. When it is durable, resolves and says whether it was accepted before; `traceId` is that of the first
   * delivery while its turn is not over. `under`: only while this
   * node has the lease of the connection. **Errors** —
   * `E_AGENT_UNKNOWN`, `E_INSTANCE_KEY`, `E_PROCESSES_FULL`, `E_INBOX_FULL`, `E_FILE_INVALID`, `E_FILE_SIZE`,
   * `E_FILE_UNKNOWN`, `E_OUTPUT_INVALID`, and those of the disk, such as `E_STORE_CORRUPT` while the inbox is damaged.
   */
  async accept(
    to: AgentAddress,
    sent: AgentEvent,
    isAwaited: boolean,
    under?: ConnectionFence,
  ): Promise<{ readonly duplicate: boolean; readonly traceId: string }> {
    this.#check(to);
    const checked = this.#checkContent(to, sent);
    const given = withoutSecrets(this.#deps.sample(checked), this.#deps.currentPlan.value.secrets.mask);
    return this.#inOrder(to, async () => {
      const { accepted, event } = await this.#write(to, given, under);
      this.#instances.remember(to);
      const work = workOf(accepted, event, isAwaited);
      const isWanted = work !== undefined && (isAwaited || !this.#isClosed);
      if (isWanted && (await this.#deps.placement.claim(to))) this.#queue(to, work);
      else if (isWanted) this.#deps.elsewhere?.accepted(to, event);
      return { duplicate: accepted.duplicate, traceId: (work?.event ?? event).traceId };
    });
  }

  /** Queues an event, or all input of its instance, if other nodes may have accepted events before it (invariant 2). */
  #queue(to: AgentAddress, work: InboxEntry): void {
    const { elsewhere } = this.#deps;
    const isNext = elsewhere === undefined || work.seq === HANDLED || elsewhere.isNext(to, work.seq);
    if (isNext) this.#instances.post(to, { type: 'work', ...work });
    else elsewhere.wake(to);
  }

  async #write(
    to: AgentAddress,
    given: AgentEvent,
    under: ConnectionFence | undefined,
  ): Promise<{ readonly accepted: Accepted; readonly event: AgentEvent }> {
    const { unread, inbox } = this.#deps;
    try {
      await unread.readAgain(to);
      const pending = this.#instances.find(to)?.state.queue.find((queued) => queued.event.id === given.id);
      if (pending !== undefined) return { accepted: { accepted: true, duplicate: true, pending }, event: given };
      if (this.#instances.isAsleep(to)) await (this.#lastWoken = this.#lastWoken.then(nextTick));
      const { event, digests } = await this.#storeFiles(to, given, under);
      const accepted = await inbox.accept(to, event, under);
      // Only a hint, so nobody waits for it. The files of a second delivery may be others, which nothing names.
      if (digests.length > 0 && !accepted.duplicate) void this.#deps.blobs.named(to, digests).catch(() => undefined);
      return { accepted, event };
    } catch (error) {
      unread.refused(to, error);
      throw sayFate(error);
    }
  }

  /** Checks the parts of an event before anything of them is stored. */
  #checkContent({ agentName }: AgentAddress, event: AgentEvent): AgentEvent {
    if (event.content === undefined) return event;
    const { content, ...others } = event;
    const from = event.source.kind === 'agent' ? 'agent' : 'outside';
    const checked = checkContent(content, fileLimitsOf(this.#deps.currentPlan.value, agentName), from);
    return checked.length === 0 ? others : { ...others, content: checked };
  }

  /** Stores the files of an event, durably (invariant 7). An event that the inbox would refuse stores nothing. */
  async #storeFiles(to: AgentAddress, event: AgentEvent, under: ConnectionFence | undefined) {
    if (event.content === undefined) return { event, digests: [] };
    const { blobs, inbox, currentPlan } = this.#deps;
    const limits = fileLimitsOf(currentPlan.value, to.agentName);
    const { content, digests } = await takeContent(blobs, to, event.content, limits, (parts) =>
      inbox.checkRoom(to, { ...event, content: parts }, under),
    );
    return { event: { ...event, content }, digests };
  }

  /**
   * Cancels the turn of an event, running or pending. Resolves when the cancel is durable; with false when there is no
   * such turn. On a disk error the turn is cancelled anyway, as long as this process lives, and the error is reported.
   */
  async cancel(at: AgentAddress, eventId: string, said: string): Promise<boolean> {
    const isQueued = (isNew: boolean) =>
      this.#instances
        .find(at)
        ?.state.queue.some(({ event, cancelled }) => event.id === eventId && !(isNew && cancelled !== undefined)) ===
      true;
    const reason = this.#deps.currentPlan.value.secrets.mask(said).slice(0, LONGEST_REASON);
    if (!isQueued(true)) return this.#cancelElsewhere(at, eventId, reason);
    // Posted first, because a running turn need not wait for the disk.
    this.#instances.post(at, { type: 'cancel', eventId, reason });
    try {
      // If the turn has ended by then, its result stays.
      await this.#inOrder(at, async () => isQueued(false) && this.#deps.inbox.cancel(at, eventId, reason));
    } catch (error) {
      this.#reportCancel(at, eventId, error, 'cannot be written to disk, and is lost after a restart');
    }
    return true;
  }

  /** Marks an event of another node's instance as cancelled. The store tells the mark to that node. */
  async #cancelElsewhere(at: AgentAddress, eventId: string, reason: string): Promise<boolean> {
    if (this.#deps.elsewhere?.has(at) !== true) return false;
    try {
      return await this.#deps.inbox.cancel(at, eventId, reason);
    } catch (error) {
      this.#reportCancel(at, eventId, error, 'could not be told to its node');
      return false;
    }
  }

  #reportCancel(at: AgentAddress, eventId: string, error: unknown, fate: string): void {
    const problem = error instanceof Error ? error.message : String(error);
    const message = `The cancellation of turn ${shortIdOfEvent(eventId)} ${fate}: ${problem}`;
    this.#deps.report('warn', 'cancel.not_written', message, turnOf(at, eventId));
  }

  /**
   * Runs `action` while nothing is being accepted for the instance: earlier events are written, and later ones wait.
   */
  between<Value>(to: AgentAddress, action: () => Promise<Value>): Promise<Value> {
    return this.#inOrder(to, action);
  }

  /** The result of a turn comes after its commit. */
  turnFinished(at: AgentAddress, { event, isTaken }: FinishedTurn): void {
    this.#deps.inbox.handled(at, event.id, isTaken);
  }

  close(): void {
    this.#isClosed = true;
  }

  #check({ agentName, instanceKey }: AgentAddress): void {
    const unknown = findAgentProblem(agentName, this.#deps.currentPlan.value.names);
    if (unknown !== undefined) throw fromFrameError(unknown);
    refuseKey(instanceKey);
    const instance = this.#instances.find({ agentName, instanceKey });
    const hasPlace = instance !== undefined && instance.status !== 'asleep';
    if (!hasPlace) refuseWhenLineFull(this.#instances.waiting, MOST_WAITING);
  }

  /** Runs the actions of one instance one after the other (invariant 2). */
  async #inOrder<Value>(to: AgentAddress, accept: () => Promise<Value>): Promise<Value> {
    const key = addressKey(to);
    const line = this.#accepting.get(key) ?? { last: Promise.resolve(), count: 0 };
    if (line.count >= MOST_ACCEPTING) {
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

/** Adds to an error about damage that the input is not kept (invariant 1), because other input of the instance may be. */
function sayFate(error: unknown): unknown {
  if (!GoondanError.is(error) || !isDamage(error)) return error;
  const { code, message, cause } = error;
  const suggestion = `${error.suggestion} The input was not accepted, so it is not kept.`;
  return new GoondanError(code, message, { suggestion, cause });
}

function nextTick(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/**
 * Masks the sender's texts, but not the identity of the event (invariant 4). **Errors** — `E_FILE_INVALID`,
 * `E_OUTPUT_INVALID`.
 */
function withoutSecrets(event: AgentEvent, mask: Mask): AgentEvent {
  const { input, content, metadata, auth, output, source } = event;
  // Safe: masking an object returns an object.
  const masked = (value: JsonObject) => maskJson(value, mask) as JsonObject;
  return {
    ...event,
    // The names of agents and connectors are not texts of a sender.
    ...(source.kind === 'cli' && { source: { ...source, name: mask(source.name) } }),
    ...(input === undefined ? {} : { input: mask(input) }),
    ...(content === undefined ? {} : { content: content.map((part, index) => maskPart(part, mask, index)) }),
    ...(metadata === undefined ? {} : { metadata: masked(metadata) }),
    ...(auth === undefined ? {} : { auth: masked(auth) }),
    ...(output === undefined ? {} : { output: maskDemand(output, mask) }),
  };
}

/** A schema is read again, because it may need the masked number. */
function maskDemand(output: OutputDemand, mask: Mask): OutputDemand {
  const schema = maskJson(output.schema, mask);
  return schema === output.schema ? output : readDemand({ ...output, schema });
}

/** Masks the texts and the address of a part. The bytes of a file stay as they are. **Errors** — `E_FILE_INVALID`. */
function maskPart(part: ContentPart, mask: Mask, index: number): ContentPart {
  const { providerOptions } = part;
  // Safe: options are JSON, and masking an object returns an object.
  const options = providerOptions && { providerOptions: maskJson(providerOptions, mask) as typeof providerOptions };
  if (part.type === 'text') return { ...part, ...options, text: mask(part.text) };
  const refuse = (what: string, suggestion: string) => {
    const message = `The input cannot be taken: the ${what} of content[${index}] is a secret of the swarm, so it is not kept.`;
    return new GoondanError('E_FILE_INVALID', message, { suggestion });
  };
  const name = part.filename === undefined ? {} : { filename: mask(part.filename) };
  const named = { ...part, ...options, ...name };
  const source = readSource(sourceOfPart(part));
  // A masked media type would be none.
  const types = [part.mediaType, source.kind === 'bytes' ? source.mediaType : undefined];
  if (types.some((type) => type !== undefined && mask(type) !== type)) {
    throw refuse('media type', 'Leave it out: it is detected.');
  }
  if (source.kind !== 'url') return named;
  const url = mask(sourceOfPart(named));
  if (readSource(url).kind !== 'url') throw refuse('URL', 'Send the bytes of the file instead.');
  return named.type === 'image' ? { ...named, image: url } : { ...named, data: url };
}

/** Returns the work for the process, if there is any (invariant 3). */
function workOf(accepted: Accepted, event: AgentEvent, isAwaited: boolean): InboxEntry | undefined {
  if (!accepted.duplicate) return { seq: accepted.seq, event };
  return accepted.pending ?? (isAwaited ? { seq: HANDLED, event } : undefined);
}

/** The number given to an event that is no longer in the inbox. */
const HANDLED = 0;
