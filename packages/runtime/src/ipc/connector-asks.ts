/**
 * Asks: events of a connector that waits for the end of their turns. This file sends and answers asks, their deltas and
 * their ends.
 *
 * Invariants:
 * 1. An ask ends once: with an answer, with an error, when the connector stops waiting, or when the channel closes.
 * 2. The turn does not depend on the ask. When one side exits, the other side forgets the ask, and the turn continues.
 *    Only `cancel` ends the turn.
 * 3. At most `MOST_ASKS` asks are open at a time per channel, whatever the other side does.
 */
import { type ConnectorAcceptance, type ConnectorAnswer, GoondanError, type TurnDelta } from '@goondan/types';
import type { ChannelEnd } from './channel/channel.ts';
import { fromFrameError, toFrameError } from './check/frame-error.ts';
import type { FromConnector, HeardEvent } from './from-connector.ts';
import type { AskOutcome, ToConnector } from './to-connector.ts';
import { withoutPlace } from './without-place.ts';

export const MOST_ASKS = 256;

export interface AskListeners {
  /** Called when the event is accepted. Must not throw. */
  readonly onAccepted: (acceptance: ConnectorAcceptance) => void;
  /** Receives deltas; when absent, none are sent. Must not throw. */
  readonly onDelta?: (delta: TurnDelta) => void;
}

export class ConnectorAsker {
  readonly #open = new Map<string, AskListeners & { readonly answer: PromiseWithResolvers<ConnectorAnswer> }>();
  #count = 0;

  constructor(private readonly channel: ChannelEnd<FromConnector, ToConnector>) {
    channel.onMessage((message) => this.#hear(message));
    channel.onClose(() =>
      this.refuseAll(
        new GoondanError('E_IPC_CLOSED', 'The orchestrator has exited: ask again with the same id to get the answer.'),
      ),
    );
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Starts an ask. `leave` ends the wait: after it, no listener is called, and `answer` rejects with `reason`. Throws
   * `E_CALLS_FULL`.
   */
  ask(
    id: string,
    event: HeardEvent,
    listeners: AskListeners,
  ): { readonly answer: Promise<ConnectorAnswer>; leave(reason: unknown, cancel: boolean): void } {
    if (this.#open.size >= MOST_ASKS) throw fullError();
    const askId = `ask-${(this.#count += 1)}`;
    const answer = Promise.withResolvers<ConnectorAnswer>();
    this.#open.set(askId, { ...listeners, answer });
    const wantsDeltas = listeners.onDelta !== undefined;
    this.channel
      .send({ type: 'connector.ask', askId, id, event, wantsDeltas })
      .catch((error: unknown) => this.#take(askId)?.answer.reject(error));
    return {
      answer: answer.promise,
      leave: (reason, cancel) => {
        if (this.#take(askId) === undefined) return;
        answer.reject(reason);
        // If sending fails, the orchestrator has exited and needs no message.
        this.channel.send({ type: 'ask.left', askId, cancel }).catch(() => undefined);
      },
    };
  }

  refuseAll(error: unknown): void {
    for (const askId of [...this.#open.keys()]) this.#take(askId)?.answer.reject(error);
  }

  #hear(message: ToConnector): void {
    if (message.type === 'ask.accepted') this.#open.get(message.askId)?.onAccepted(message.acceptance);
    if (message.type === 'ask.delta') this.#open.get(message.askId)?.onDelta?.(message.delta);
    if (message.type !== 'ask.ended') return;
    const { outcome } = message;
    const ask = this.#take(message.askId);
    if (outcome.status === 'answered') ask?.answer.resolve(outcome.answer);
    else ask?.answer.reject(fromFrameError(outcome.error));
  }

  #take(askId: string) {
    const ask = this.#open.get(askId);
    this.#open.delete(askId);
    return ask;
  }
}

/**
 * The orchestrator's handler of an ask. `left` aborts when the connector no longer waits, and `cancel` when the turn
 * must end.
 */
export type AnswerAsk = (
  id: string,
  event: HeardEvent,
  options: AskListeners & { readonly left: AbortSignal; readonly cancel: AbortSignal },
) => Promise<ConnectorAnswer>;

/** Answers asks, on the orchestrator's side. */
export function answerConnectorAsks(channel: ChannelEnd<ToConnector, FromConnector>, answer: AnswerAsk): void {
  const open = new Map<string, { readonly left: AbortController; readonly cancel: AbortController }>();
  // If a message cannot be sent, the connector process has exited or does not read. A new process repeats the ask with
  // the same event id.
  const tell = (message: ToConnector) => void channel.send(message).catch(() => undefined);
  const leave = (askId: string, cancel: boolean) => {
    const ask = open.get(askId);
    open.delete(askId);
    if (cancel) ask?.cancel.abort();
    ask?.left.abort();
  };

  channel.onClose(() => {
    for (const askId of [...open.keys()]) leave(askId, false);
  });
  channel.onMessage((message) => {
    if (message.type === 'ask.left') return leave(message.askId, message.cancel);
    if (message.type !== 'connector.ask') return;
    const { askId, id, event, wantsDeltas } = message;
    if (open.has(askId)) return;
    if (open.size >= MOST_ASKS) return tell({ type: 'ask.ended', askId, outcome: failed(fullError()) });
    const left = new AbortController();
    const cancel = new AbortController();
    open.set(askId, { left, cancel });
    const end = (outcome: AskOutcome) => {
      if (open.delete(askId)) tell({ type: 'ask.ended', askId, outcome });
    };
    answer(id, event, {
      left: left.signal,
      cancel: cancel.signal,
      onAccepted: (acceptance) => tell({ type: 'ask.accepted', askId, acceptance }),
      ...(wantsDeltas ? { onDelta: (delta) => tell({ type: 'ask.delta', askId, delta }) } : {}),
    }).then(
      (answered) => end(answeredWith(answered)),
      (error: unknown) => end(failed(error)),
    );
  });
}

function answeredWith(answer: ConnectorAnswer): AskOutcome {
  const { error } = answer;
  return { status: 'answered', answer: error === undefined ? answer : { ...answer, error: withoutPlace(error) } };
}

function failed(error: unknown): AskOutcome {
  return { status: 'failed', error: withoutPlace(toFrameError(error, 'E_EVENT_INVALID')) };
}

function fullError(): GoondanError {
  return new GoondanError('E_CALLS_FULL', `${MOST_ASKS} asks of this connection wait for the end of a turn.`, {
    retryable: true,
  });
}
