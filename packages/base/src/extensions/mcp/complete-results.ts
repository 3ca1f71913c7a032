/**
 * Changes the messages of a server before the SDK gets them.
 *
 * 1. Since 2026, a result says whether it is complete. A result that does not say so counts as complete, but the SDK refuses
 *    it. So the type is added to each result that has none.
 * 2. A message that nests too deep would overflow the stack wherever it is copied or compared. An answer becomes an error, and
 *    the parameters of anything else are dropped.
 */
type Receive = (message: never, extra?: never) => void;

/** The maximum depth of a message. The result of a tool may nest 256 levels, and is a part of a message. */
const DEEPEST = 256;

/** The error of a message that nests too deep. */
export const TOO_DEEP = `it sent a message that nests more than ${DEEPEST} levels.`;

/** `isModern`: returns true for a protocol since 2026. Returns the transport. */
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
          given(isDeeper(message, DEEPEST) ? withoutContent(message) : message, extra);
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

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}

/** The cast is safe: the result has the form of a message, as the given one. */
function withoutContent(message: object): never {
  const { id, method } = message as { readonly id?: unknown; readonly method?: unknown };
  const content = method === undefined ? { error: { code: -32_603, message: TOO_DEEP } } : { method, params: {} };
  return { jsonrpc: '2.0', ...(id === undefined ? {} : { id }), ...content } as never;
}
