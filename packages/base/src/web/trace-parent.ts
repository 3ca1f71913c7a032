/**
 * Reads the caller's trace from the header `traceparent` of W3C Trace Context. An absent or malformed header counts as
 * no trace.
 */
import { readTraceparent, type TraceParent } from '@goondan/types';

export function traceParent(request: Request): Partial<TraceParent> {
  return readTraceparent(request.headers.get('traceparent') ?? '') ?? {};
}
