/**
 * Whose spans are exported. It is decided once for a trace, where an input comes in from outside: everybody who is asked
 * from there on, in the swarm and by its tools, hears it with the event (`isSampled`). Pure.
 */
import type { AgentEvent } from '@goondan/types';
import { toTraceId } from '../trace/span-id.ts';

export interface Sampler {
  /** Of the traces that it decides about: from 0, none, to 1, all. */
  readonly share: number;
  /** A caller that has decided already is followed. */
  readonly asksCaller: boolean;
}

export function sampleEvent(event: AgentEvent, { share, asksCaller }: Sampler): AgentEvent {
  const { source, traceId, parentSpanId, isSampled = true } = event;
  // It goes on with a trace that was decided about.
  if (source.kind === 'agent') return event;
  const isDecided = parentSpanId !== undefined || event.isSampled !== undefined;
  const isWanted = asksCaller && isDecided ? isSampled : isInShare(toTraceId(traceId), share);
  return isWanted === isSampled ? event : { ...event, isSampled: isWanted };
}

/** The end of an id is random, and as many digits as a number can hold. A larger share has all traces of a smaller one. */
const DIGITS = 13;

function isInShare(traceId: string, share: number): boolean {
  return Number.parseInt(traceId.slice(-DIGITS), 16) >= (1 - share) * 16 ** DIGITS;
}
