/**
 * Requests of instances of this node to instances of other nodes. The broker keeps them as open calls like all others.
 * This file tells it what happens elsewhere.
 *
 * Invariants: 1. An answer stays in the store until the turn of its caller is committed, so a caller that is taken over
 * gets it again. 2. Agents never wait for each other in a circle, also across nodes: the circle is looked for after the
 * request is accepted, so of two requests that close it together, at least one is refused.
 */
import { type AgentAddress, type AgentEvent, GoondanError } from '@goondan/types';
import { type FrameError, messageOf } from '../../ipc/check/frame-error.ts';
import { withoutPlace } from '../../ipc/without-place.ts';
import type { Clock } from '../../ports/clock.ts';
import { turnIdOf } from '../../ports/ids.ts';
import type { RemoteCalls } from '../../store/cluster-store.ts';
import { callerOf } from '../../store/log/caller-of.ts';
import { encodeReply } from '../../workspace/records/reply.ts';
import type { CallBroker } from '../calls/call-broker.ts';
import type { CallAction } from '../calls/call.ts';
import { describeCircle } from '../calls/format-callers.ts';
import type { Report } from '../instances/swarm-listener.ts';

export interface RemoteRequestsDeps {
  readonly calls: RemoteCalls;
  readonly clock: Clock;
  readonly broker: Pick<CallBroker, 'replied' | 'turnStarted' | 'find' | 'requestsTo'>;
  /** Carries out actions of the broker. */
  perform(actions: readonly CallAction[]): void;
  /** Returns true if an instance of any node waits for people. */
  isAnybodyAsking(): boolean;
  /** Called when other instances elsewhere wait for people than before. */
  heldChanged(): void;
  readonly report: Report;
}

/** The time between two looks for instances elsewhere that wait for people. */
const LOOK_EVERY_MS = 1_000;

export class RemoteRequests {
  /** The callees of the watched requests, by event. Their number is bounded by the open calls. */
  readonly #watched = new Map<string, AgentAddress>();
  #held: readonly AgentAddress[] = [];
  #callOff: (() => void) | undefined;

  constructor(private readonly deps: RemoteRequestsDeps) {
    const { calls, broker, clock } = deps;
    calls.onBegan((callee, eventId) => deps.perform(broker.turnStarted(callee, eventId, clock.elapsed())));
    calls.onAnswered((callee, eventId, result, usage) => {
      // The caller has it now. The commit of the caller's turn removes it from the store (invariant 1).
      deps.perform(broker.replied(callee, eventId, result, usage));
      this.ended(eventId);
    });
  }

  /** Instances elsewhere that wait for people, and for which instances of this node wait. */
  get held(): readonly AgentAddress[] {
    return this.#held;
  }

  /** Watches a request, because its callee belongs to another node. */
  watch(callee: AgentAddress, { id }: Pick<AgentEvent, 'id'>): void {
    if (this.#watched.has(id) || this.deps.broker.find(id)?.kind !== 'request') return;
    this.#watched.set(id, callee);
    this.deps.calls.watch(callee, id);
    this.#callOff ??= this.deps.clock.after(LOOK_EVERY_MS, () => void this.#look());
  }

  /** Watches the open requests to an instance that this node does not handle: those that are not queued here. */
  watchOthers(callee: AgentAddress, queued: ReadonlySet<string> = new Set()): void {
    for (const { id } of this.deps.broker.requestsTo(callee)) if (!queued.has(id)) this.watch(callee, { id });
  }

  /** Answers the requests of other nodes to an instance that cannot start. The broker has answered those of this node. */
  async calleeFailed(callee: AgentAddress, events: readonly AgentEvent[], error: FrameError): Promise<void> {
    const { code, message } = withoutPlace(error);
    const answers = events.flatMap((event) => {
      const { id: eventId, replyTo } = event;
      if (replyTo === undefined || callerOf(event) === undefined) return [];
      const result = { turnId: turnIdOf(eventId), finishReason: 'error', error: { code, message } } as const;
      return [{ eventId, reply: JSON.stringify(encodeReply({ replyTo, result })) }];
    });
    if (answers.length === 0) return;
    try {
      await this.deps.calls.fail(callee, answers);
    } catch (thrown) {
      const problem = `Callers at other nodes wait until their time is over, because the store failed: ${messageOf(thrown)}`;
      this.deps.report('warn', 'call.not_failed', problem, callee);
    }
  }

  /** Ends the watch of a request that is over. */
  ended(eventId: string): void {
    if (this.#watched.delete(eventId)) this.deps.calls.forget(eventId);
  }

  /**
   * Returns the reason to refuse a request that closes a circle. Requests between instances of this node are looked at
   * only while one of them waits for another node: the broker sees the other circles.
   */
  async findCircle({ id }: AgentEvent): Promise<FrameError | undefined> {
    const call = this.deps.broker.find(id);
    if (call?.kind !== 'request' || this.#watched.size === 0) return undefined;
    try {
      const circle = await this.deps.calls.findCircle(call.caller);
      return circle && { code: 'E_AGENT_DEADLOCK', message: describeCircle(circle) };
    } catch (error) {
      const message = `The store could not say whether a request waits for itself: ${GoondanError.is(error) ? error.code : String(error)}. Its time limit ends it if so.`;
      this.deps.report('warn', 'call.unchecked', message, call.caller);
      return undefined;
    }
  }

  close(): void {
    this.#callOff?.();
    for (const eventId of [...this.#watched.keys()]) this.ended(eventId);
  }

  async #look(): Promise<void> {
    const held = this.#watched.size > 0 && this.deps.isAnybodyAsking() ? await this.#readHeld() : [];
    const isChanged = JSON.stringify(held) !== JSON.stringify(this.#held);
    this.#held = held;
    this.#callOff =
      this.#watched.size === 0 ? undefined : this.deps.clock.after(LOOK_EVERY_MS, () => void this.#look());
    if (isChanged) this.deps.heldChanged();
  }

  /** If the store is away, those who waited for people still do. */
  #readHeld(): Promise<readonly AgentAddress[]> {
    return this.deps.calls.held().catch(() => this.#held);
  }
}
