import { readTraceparent, type TraceParent } from '@goondan/types';

/**
 * Reads the trace of the process that started `gdn`, if that process has a trace, so that turns become children of its
 * span.
 */
export function callerTrace(environment: Readonly<Record<string, string | undefined>>): Partial<TraceParent> {
  return readTraceparent(environment['TRACEPARENT'] ?? '') ?? {};
}
