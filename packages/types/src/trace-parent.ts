/**
 * W3C Trace Context as one line of text, `00-<trace id>-<span id>-<flags>`. It carries a trace from one service to the
 * next: in the header `traceparent`, in the variable `TRACEPARENT`, or in the `_meta` field of MCP.
 */

/** The origin of a trace, as in a `ConnectorEvent`. */
export interface TraceParent {
  readonly traceId: string;
  readonly parentSpanId: string;
  /** False when the caller does not record the trace; absent otherwise. */
  readonly isSampled?: false;
}

const FORM = /^([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/**
 * Reads a `traceparent`. Returns undefined when the text is malformed, because a bad header must not block the request.
 */
export function readTraceparent(text: string): TraceParent | undefined {
  const [, version, traceId, parentSpanId, flags = '', more] = FORM.exec(text) ?? [];
  if (traceId === undefined || parentSpanId === undefined) return undefined;
  // Only versions after 00 may have more fields, and ff is not a version.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  const isSampled = (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED;
  return { traceId, parentSpanId, ...(isSampled ? {} : { isSampled }) };
}

export function writeTraceparent({ traceId, parentSpanId, isSampled = true }: WrittenParent): string {
  return `00-${traceId}-${parentSpanId}-${isSampled ? '01' : '00'}`;
}

export type WrittenParent = Omit<TraceParent, 'isSampled'> & { readonly isSampled?: boolean };
