/** Sends a connector's events and their acknowledgements. A sent event may be lost; an accepted event is on disk. */
import { GoondanError } from '@goondan/types';
import type { ChannelEnd } from './channel/channel.ts';
import { fromFrameError, toFrameError } from './check/frame-error.ts';
import { withoutPlace } from './without-place.ts';
import type { FromConnector, HeardEvent } from './from-connector.ts';
import { PendingAnswers } from './pending-answers.ts';
import type { ToConnector } from './to-connector.ts';

/**
 * Resolves when the event is accepted. Rejects with the reason of the refusal, or with `E_IPC_CLOSED` if it is unknown
 * whether the event was accepted.
 */
export type EmitConnectorEvent = (id: string, event: HeardEvent) => Promise<void>;

/** Makes the `emit` function, on the connector's side. */
export function connectorEmitter(channel: ChannelEnd<FromConnector, ToConnector>): EmitConnectorEvent {
  const pending = new PendingAnswers<void>();
  channel.onMessage((message) => {
    if (message.type === 'connector.accepted') pending.answer(message.id, undefined);
    if (message.type === 'connector.refused') pending.refuse(message.id, fromFrameError(message.error));
  });
  channel.onClose(() => {
    pending.refuseAll(
      new GoondanError('E_IPC_CLOSED', 'The orchestrator has exited: whether the event was accepted is unknown.'),
    );
  });
  return async (id, event) => {
    const accepted = pending.wait(id);
    // The caller gets the first of the two failures.
    const sent = channel.send({ type: 'connector.event', id, event }).catch((error: unknown) => {
      pending.refuse(id, error);
    });
    await Promise.all([accepted, sent]);
  };
}

/** Accepts events, on the orchestrator's side. `accept` must resolve after the durable write. */
export function acceptConnectorEvents(
  channel: ChannelEnd<ToConnector, FromConnector>,
  accept: EmitConnectorEvent,
): void {
  channel.onMessage((message) => {
    if (message.type !== 'connector.event') return;
    const { id, event } = message;
    accept(id, event)
      .then(
        () => channel.send({ type: 'connector.accepted', id }),
        (error: unknown) =>
          channel.send({ type: 'connector.refused', id, error: withoutPlace(toFrameError(error, 'E_EVENT_INVALID')) }),
      )
      // The connector has exited or does not read. The connector later sends the event again with the same id, and gets
      // the answer then.
      .catch(() => undefined);
  });
}
