/**
 * Questions of agents, shown to people by a connector, and the answers of these people. This file sends both.
 *
 * Invariant: at most `MOST_ANSWERS` answers of a channel are under way, whatever the other side does.
 */
import { type ConnectorReply, GoondanError, type QuestionChange } from '@goondan/types';
import type { ChannelEnd } from './channel/channel.ts';
import { fromFrameError, toFrameError } from './check/frame-error.ts';
import type { FromConnector } from './from-connector.ts';
import { PendingAnswers } from './pending-answers.ts';
import type { ToConnector } from './to-connector.ts';
import { withoutPlace } from './without-place.ts';

const MOST_ANSWERS = 64;

/** The questions that one connection may show and answer. */
export interface QuestionDoor {
  /** Calls the listener with each question that waits now, and with each change after that. Returns a function that ends it. */
  watch(listener: (change: QuestionChange) => void): () => void;
  /** Resolves when the answer is durable. Rejects with a `GoondanError`. */
  answer(reply: ConnectorReply): Promise<void>;
}

/** Makes the door, on the connector's side. The listener must not throw. */
export function connectorDoor(channel: ChannelEnd<FromConnector, ToConnector>): QuestionDoor {
  const pending = new PendingAnswers<void>(MOST_ANSWERS);
  let count = 0;
  channel.onMessage((message) => {
    if (message.type === 'question.taken') pending.answer(message.callId, undefined);
    if (message.type === 'question.refused') pending.refuse(message.callId, fromFrameError(message.error));
  });
  channel.onClose(() => {
    pending.refuseAll(
      new GoondanError('E_IPC_CLOSED', 'The orchestrator has exited: whether the answer counts is unknown.'),
    );
  });
  return {
    watch: (listener) =>
      channel.onMessage((message) => {
        if (message.type === 'question.changed') listener(message.change);
      }),
    async answer(reply) {
      if (pending.isFull) throw fullError();
      const callId = `answer-${(count += 1)}`;
      return pending.ask(callId, () => channel.send({ type: 'question.answer', callId, reply }));
    },
  };
}

/** Shows the questions and takes the answers, on the orchestrator's side. */
export function serveQuestions(channel: ChannelEnd<ToConnector, FromConnector>, door: QuestionDoor): void {
  let underWay = 0;
  // If a message cannot be sent, the connector process has exited. The next process gets all open questions.
  const tell = (message: ToConnector) => void channel.send(message).catch(() => undefined);
  channel.onMessage((message) => {
    if (message.type !== 'question.answer') return;
    const { callId, reply } = message;
    const refuse = (error: unknown) =>
      tell({ type: 'question.refused', callId, error: withoutPlace(toFrameError(error, 'E_QUESTION_REPLY')) });
    if (underWay >= MOST_ANSWERS) return refuse(fullError());
    underWay += 1;
    door
      .answer(reply)
      .then(() => tell({ type: 'question.taken', callId }), refuse)
      .finally(() => (underWay -= 1));
  });
  channel.onClose(door.watch((change) => tell({ type: 'question.changed', change })));
}

function fullError(): GoondanError {
  return new GoondanError('E_CALLS_FULL', `${MOST_ANSWERS} answers of this connection wait to be stored.`, {
    retryable: true,
  });
}
