import { readTraceparent, type TraceParent } from '@goondan/types';

/** Reads the trace of the process that started `gdn`, if it has one: turns go under its span. */
export function callerTrace(environment: Readonly<Record<string, string | undefined>>): Partial<TraceParent> {
  return readTraceparent(environment['TRACEPARENT'] ?? '') ?? {};
}
