/**
 * Reads the caller's trace from the header `traceparent` of W3C Trace Context; nothing when it is absent or malformed.
 */
import { readTraceparent, type TraceParent } from '@goondan/types';

export function traceParent(request: Request): Partial<TraceParent> {
  return readTraceparent(request.headers.get('traceparent') ?? '') ?? {};
}
