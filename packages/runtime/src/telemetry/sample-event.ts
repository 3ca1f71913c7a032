/**
 * Decides which spans are exported. The decision is made once per trace, when an input arrives from outside, and is
 * passed with the event (`isSampled`) to every agent and tool called from there. Pure.
 */
import type { AgentEvent } from '@goondan/types';
import { toTraceId } from '../trace/span-id.ts';

/**
 * Adds the decision to an event. `share`: the share of traces to export, from 0 for none to 1 for all. `asksCaller`: if
 * true and the caller has already decided, the caller's decision is used.
 */
export function sampleEvent(
  event: AgentEvent,
  { share, asksCaller }: { readonly share: number; readonly asksCaller: boolean },
): AgentEvent {
  const { source, traceId, parentSpanId, isSampled = true } = event;
  // The event continues a trace that already has a decision.
  if (source.kind === 'agent') return event;
  const isDecided = parentSpanId !== undefined || event.isSampled !== undefined;
  const isWanted = asksCaller && isDecided ? isSampled : isInShare(toTraceId(traceId), share);
  return isWanted === isSampled ? event : { ...event, isSampled: isWanted };
}

/**
 * The number of hexadecimal digits at the end of a trace id that are compared with the share. These digits are random,
 * and a JavaScript number can hold 13 of them. A larger share includes all traces of a smaller share.
 */
const DIGITS = 13;

function isInShare(traceId: string, share: number): boolean {
  return Number.parseInt(traceId.slice(-DIGITS), 16) >= (1 - share) * 16 ** DIGITS;
}
