/**
 * W3C Trace Context as one line of text, `00-<trace id>-<span id>-<flags>`: how a trace goes on from one service to the
 * next, in the header `traceparent`, the variable `TRACEPARENT`, the `_meta` of MCP.
 */

/** Where a trace comes from, as a `ConnectorEvent` has it. */
export interface TraceParent {
  readonly traceId: string;
  readonly parentSpanId: string;
  /** There only when whoever asks does not record the trace. */
  readonly isSampled?: false;
}

const FORM = /^([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** Undefined when it is malformed: a caller's mistake must not keep its request from being handled. */
export function readTraceparent(text: string): TraceParent | undefined {
  const [, version, traceId, parentSpanId, flags = '', more] = FORM.exec(text) ?? [];
  if (traceId === undefined || parentSpanId === undefined) return undefined;
  // Versions to come may say more; the first one may not, and ff is none.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  const isSampled = (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED;
  return { traceId, parentSpanId, ...(isSampled ? {} : { isSampled }) };
}

export function writeTraceparent({ traceId, parentSpanId, isSampled = true }: WrittenParent): string {
  return `00-${traceId}-${parentSpanId}-${isSampled ? '01' : '00'}`;
}

export type WrittenParent = Omit<TraceParent, 'isSampled'> & { readonly isSampled?: boolean };
