/**
 * Since 2026, a result says whether it is complete. A result that does not say so counts as complete, but the SDK refuses it.
 * So the type is added to each result that has none, before the SDK gets it.
 */
type Receive = (message: never, extra?: never) => void;

/** Changes the messages of a transport, from the time when `isModern` returns true. Returns the transport. */
export function completeResults<Transport extends { onmessage?: Receive | undefined }>(
  transport: Transport,
  isModern: () => boolean,
): Transport {
  let receive: Receive | undefined;
  return Object.defineProperty(transport, 'onmessage', {
    get: () => receive,
    set(given: Receive | undefined) {
      receive =
        given &&
        ((message, extra) => {
          if (isModern()) completeResult(message);
          given(message, extra);
        });
    },
  });
}

function completeResult(message: unknown): void {
  if (typeof message !== 'object' || message === null || !('result' in message)) return;
  const { result } = message;
  if (typeof result === 'object' && result !== null && !('resultType' in result)) {
    Object.assign(result, { resultType: 'complete' });
  }
}
