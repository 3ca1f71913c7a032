/** Makes the spans of a committed turn: one for the turn, and one below it for each layer of the turn chain. Pure. */
import { defined } from '../json/defined.ts';
import { ownUsage } from '../ports/token-usage.ts';
import type { RunningSpan } from '../trace/running-span.ts';
import type { WatchedEnd } from '../trace/layer-span.ts';
import { contentOfTurn } from './content.ts';
import { errorType, failedStatus } from './failure.ts';
import { type OtlpSpan, spanKinds, unixNanos } from './otlp.ts';
import { describeUsage, spansOfLayers } from './to-otlp-spans.ts';
import { describeModel, nameText, nanosAt, toSpan, type TurnPlace, whose } from './turn-place.ts';

/**
 * Makes the spans. `chain`: the turn chain; undefined when the turn ended before the chain began. `endedAt`: the time
 * on the monotonic clock.
 */
export function spansOfTurn(
  { result, stepCount, usage, called }: WatchedEnd,
  chain: RunningSpan | undefined,
  endedAt: number,
  place: TurnPlace,
): OtlpSpan[] {
  const { turnId, agentName, event, spanIds, mask, resumed } = place.turn;
  const { finishReason } = result;
  const error = finishReason === 'error' ? (result.error ?? {}) : undefined;
  const own = toSpan(place, spanIds, {
    name: `invoke_agent ${agentName}`,
    kind: kindOf(place),
    startTimeUnixNano: startOf(place),
    endTimeUnixNano: nanosAt(place, endedAt),
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      ...describeModel(place, place.modelRef, mask),
      ...whose(place),
      // The turns of called agents have spans of their own, so a sum over spans counts each token once.
      ...describeUsage(ownUsage({ usage, ...defined({ called }) })),
      'goondan.called.input_tokens': called?.inputTokens,
      'goondan.called.output_tokens': called?.outputTokens,
      'goondan.turn_id': nameText(turnId, mask),
      'goondan.source': nameText(`${event.source.kind}/${event.source.name}`, mask),
      'goondan.finish_reason': finishReason,
      'goondan.truncated': result.truncated === true ? true : undefined,
      'goondan.steps': stepCount,
      'goondan.resumed': resumed ? true : undefined,
      ...(error === undefined ? {} : { 'error.type': errorType(error, mask) }),
      ...(place.hasContent ? contentOfTurn(event.input, result, mask) : {}),
    },
    status: error === undefined ? {} : failedStatus(error, mask, place.hasContent),
  });
  return chain === undefined ? [own] : [own, ...spansOfLayers(chain, place, endedAt)];
}

/** Returns `server` for a turn that answers a call traced by another service, and `internal` for everything else. */
function kindOf({ turn: { event, spanIds } }: TurnPlace): number {
  const isAnswer = event.source.kind !== 'agent' && spanIds.fields.parentSpanId !== undefined;
  return isAnswer ? spanKinds.server : spanKinds.internal;
}

/**
 * Returns the start of the turn. A turn that continued after a crash began in an earlier process, at an unknown time.
 * For such a turn, the result is the time of its event. This time is earlier, so the span covers the whole turn.
 */
function startOf(place: TurnPlace): string {
  const { resumed, event } = place.turn;
  return resumed ? unixNanos(event.createdAt) : nanosAt(place, place.startedAt);
}
