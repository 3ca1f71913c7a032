/**
 * W3C Trace Context as one line of text, `00-<trace id>-<span id>-<flags>`: it passes a trace from one service to the
 * next, in the header `traceparent`, the variable `TRACEPARENT`, the `_meta` of MCP.
 */

/** The origin of a trace, as in a `ConnectorEvent`. */
export interface TraceParent {
  readonly traceId: string;
  readonly parentSpanId: string;
  /** Present only when the caller does not record the trace. */
  readonly isSampled?: false;
}

const FORM = /^([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** Undefined when it is malformed: a bad header must not block the request. */
export function readTraceparent(text: string): TraceParent | undefined {
  const [, version, traceId, parentSpanId, flags = '', more] = FORM.exec(text) ?? [];
  if (traceId === undefined || parentSpanId === undefined) return undefined;
  // Later versions may have more fields; version 00 may not, and ff is invalid.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  const isSampled = (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED;
  return { traceId, parentSpanId, ...(isSampled ? {} : { isSampled }) };
}

export function writeTraceparent({ traceId, parentSpanId, isSampled = true }: WrittenParent): string {
  return `00-${traceId}-${parentSpanId}-${isSampled ? '01' : '00'}`;
}

export type WrittenParent = Omit<TraceParent, 'isSampled'> & { readonly isSampled?: boolean };
