import { readTraceparent, type TraceParent } from '@goondan/types';

/** The trace of whoever started `gdn`, when that traces itself: what is asked hangs under its span. */
export function callerTrace(environment: Readonly<Record<string, string | undefined>>): Partial<TraceParent> {
  return readTraceparent(environment['TRACEPARENT'] ?? '') ?? {};
}
