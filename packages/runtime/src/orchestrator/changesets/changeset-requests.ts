/**
 * The requests of agent processes about changesets, from the frame to its answer.
 *
 * Invariants:
 * 1. The channel identifies the conversation; a frame names only the changeset.
 * 2. A request is made in a turn. It is withdrawn by its process, by the end of the process, and by the end of the turn.
 * 3. A request gets one answer, unless it was withdrawn. The end of the swarm withdraws none: a handler that waits in vain
 *    would keep its process until the grace is over.
 * 4. At most `mostOfOne` requests of a conversation and `mostOfAll` in total are worked on, also withdrawn ones.
 */
import { type AgentAddress, type AgentEvent, GoondanError, type JsonValue } from '@goondan/types';
import type { ChangesetAnswers } from '../../ipc/changeset-answers.ts';
import { type FrameError, toFrameError } from '../../ipc/check/frame-error.ts';
import type { ChangesetRequest, FromAgent } from '../../ipc/from-agent.ts';
import type { ChangesetEnd, ToAgent } from '../../ipc/to-agent.ts';
import { withoutPlace } from '../../ipc/without-place.ts';
import { isSameAddress } from '../address/address-key.ts';
import type { AgentFrame, FinishedTurn, SwarmListener } from '../instances/swarm-listener.ts';

export interface AskedRequest {
  readonly at: AgentAddress;
  readonly during: AgentEvent;
  readonly request: ChangesetRequest;
  /** Aborts when the request is withdrawn, or the swarm ends. */
  readonly signal: AbortSignal;
}

export interface ChangesetRequestsDeps {
  answer(asked: AskedRequest): Promise<ChangesetAnswers[ChangesetRequest['kind']]>;
  /** Sends a message to the process of this instance, if it has one. */
  say(at: AgentAddress, message: ToAgent): void;
}

export const requestLimits = { mostOfOne: 16, mostOfAll: 128 };

type AskFrame = Extract<FromAgent, { readonly type: 'changeset.ask' }>;

interface OpenRequest {
  readonly at: AgentAddress;
  readonly callId: string;
  readonly eventId: string;
  readonly stop: AbortController;
  readonly over: Promise<void>;
  isWithdrawn: boolean;
}

export class ChangesetRequests implements SwarmListener {
  readonly #open = new Set<OpenRequest>();

  constructor(private readonly deps: ChangesetRequestsDeps) {}

  heard(at: AgentAddress, frame: AgentFrame, during: AgentEvent | undefined): void {
    if (frame.type === 'changeset.ask') this.#ask(at, frame, during);
    if (frame.type === 'changeset.withdrawn') this.#withdraw(at, ({ callId }) => callId === frame.callId);
  }

  processGone(at: AgentAddress): void {
    this.#withdraw(at, () => true);
  }

  turnFinished(at: AgentAddress, { event }: Pick<FinishedTurn, 'event'>): void {
    this.#withdraw(at, ({ eventId }) => eventId === event.id);
  }

  /** Aborts the work on all requests, and waits until each has its answer. Later requests are answered, too. */
  async close(): Promise<void> {
    const reason = new GoondanError('E_SWARM_STOPPED', 'The swarm is being stopped, so it changes its bundle no more.');
    for (const { stop } of this.#open) stop.abort(reason);
    await Promise.all([...this.#open].map(({ over }) => over));
  }

  #ask(at: AgentAddress, { callId, request }: AskFrame, during: AgentEvent | undefined): void {
    const error = findRefusal([...this.#open], at, callId, during);
    if (error !== undefined || during === undefined) {
      return this.deps.say(at, {
        type: 'changeset.ended',
        callId,
        outcome: { status: 'failed', error: error ?? outside },
      });
    }
    const stop = new AbortController();
    const over = this.#work({ at, during, request, signal: stop.signal }).then((outcome) => {
      this.#open.delete(open);
      if (!open.isWithdrawn) this.deps.say(at, { type: 'changeset.ended', callId, outcome });
    });
    const open: OpenRequest = { at, callId, eventId: during.id, stop, over, isWithdrawn: false };
    this.#open.add(open);
  }

  #work(asked: AskedRequest): Promise<ChangesetEnd> {
    return this.deps.answer(asked).then(
      // Safe: the answers are JSON.
      (value) => ({ status: 'answered' as const, value: value as unknown as JsonValue }),
      (error: unknown) => ({ status: 'failed' as const, error: withoutPlace(toFrameError(error, 'E_UNEXPECTED')) }),
    );
  }

  #withdraw(at: AgentAddress, isMeant: (request: OpenRequest) => boolean): void {
    for (const each of this.#open) {
      if (!isSameAddress(each.at, at) || !isMeant(each)) continue;
      each.isWithdrawn = true;
      each.stop.abort(new GoondanError('E_CANCELLED', 'Nobody waits for the changeset any more.'));
    }
  }
}

const outside: FrameError = {
  code: 'E_CHANGESET_REQUEST',
  message: 'A request about a changeset was made outside of a turn.',
};

/** Returns the reason why a request is refused, or `undefined` if there is none. */
export function findRefusal(
  open: readonly Pick<OpenRequest, 'at' | 'callId'>[],
  at: AgentAddress,
  callId: string,
  during: AgentEvent | undefined,
): FrameError | undefined {
  if (during === undefined) return outside;
  const own = open.filter((each) => isSameAddress(each.at, at));
  if (own.some((each) => each.callId === callId)) {
    return {
      code: 'E_CHANGESET_REQUEST',
      message: `There is a request with the id ${JSON.stringify(callId)} already.`,
    };
  }
  const { mostOfOne, mostOfAll } = requestLimits;
  if (own.length < mostOfOne && open.length < mostOfAll) return undefined;
  return { code: 'E_CHANGESET_LIMIT', message: 'Too many requests about changesets are worked on. Try again later.' };
}
