/** Makes the spans of an ended chain: one for the chain, and one below it for each of its layers. Pure. */
import type { ModelReply, TokenUsage, ToolCallResult } from '@goondan/types';
import type { PlainObject } from '../json/copy-json.ts';
import type { Mask } from '../log/mask-secrets.ts';
import type { RunningSpan } from '../trace/running-span.ts';
import type { RecordedLayer } from '../trace/recorded-layer.ts';
import type { SpanIds } from '../trace/span-id.ts';
import { errorType, failedStatus } from './failure.ts';
import { type Attributes, type OtlpSpan, spanKinds } from './otlp.ts';
import type { EndedSpan } from './ended-span.ts';
import { describeModel, nameText, nanosAt, toSpan, type TurnPlace, whose } from './turn-place.ts';

/** Makes the spans of a step, a model call or a tool call; `spansOfTurn` makes those of a turn. */
export function toOtlpSpans(seen: EndedSpan, place: TurnPlace): OtlpSpan[] {
  const { recorded, leftAt } = seen;
  const { chain, startedAt, totalMs } = recorded;
  const endedAt = leftAt?.elapsed ?? startedAt + totalMs;
  const thrown = whatWentWrong(seen);
  const { name, kind, attributes } = describe(seen, place);
  const own = toSpan(place, chain.spanIds, {
    name,
    kind,
    startTimeUnixNano: nanosAt(place, startedAt),
    endTimeUnixNano: nanosAt(place, endedAt),
    attributes: {
      ...attributes,
      ...(leftAt === undefined ? {} : { 'goondan.unfinished': true }),
      ...(thrown === undefined ? {} : { 'error.type': errorType(thrown, chain.mask) }),
      ...seen.content,
    },
    status: thrown === undefined ? {} : failedStatus(thrown, chain.mask, place.hasContent),
  });
  return [own, ...spansOfLayers(recorded, place, endedAt)];
}

/**
 * Returns the error that the chain threw or that a tool returned. For a chain that was given up, returns the reason.
 */
function whatWentWrong({ recorded, leftAt }: EndedSpan): unknown {
  if (leftAt !== undefined) return leftAt.error ?? {};
  if (recorded.outcome === 'failed') return recorded.error ?? {};
  if (recorded.chain.kind !== 'toolCall') return undefined;
  // Safe: the chain has checked that it is a result.
  const { status, error } = recorded.result as ToolCallResult;
  return status === 'error' ? (error ?? {}) : undefined;
}

function describe(seen: EndedSpan, place: TurnPlace): { name: string; kind: number; attributes: Attributes } {
  const { chain } = seen.recorded;
  switch (chain.kind) {
    case 'model':
      return describeModelCall(seen, place);
    case 'toolCall':
      return describeToolCall(seen.recorded, place);
    case 'turn':
    case 'step':
      return {
        name: `${chain.kind} ${chain.label}`,
        kind: spanKinds.internal,
        attributes: { 'goondan.step': Number(chain.label), 'goondan.retry_ms': seen.recorded.retryMs },
      };
  }
}

function describeModelCall({ recorded, modelRef, params }: EndedSpan, place: TurnPlace) {
  const { chain, layers, result, outcome } = recorded;
  const { mask } = chain;
  const named = describeModel(place, modelRef, mask);
  // Safe: the chain has checked that it is a reply.
  const reply = outcome === 'ended' ? (result as ModelReply) : undefined;
  const answeredBy = layers.find((layer) => layer.outcome === 'short_circuit')?.layer.extension;
  const attributes = {
    'gen_ai.operation.name': 'chat',
    ...named,
    ...describeParams(params),
    ...(reply === undefined ? {} : describeReply(reply, mask)),
    ...whose(place),
    'goondan.model_ref': nameText(modelRef, mask),
    // The extension whose layer answered, so that no model was called.
    'goondan.answered_by': answeredBy,
  };
  return { name: `chat ${named['gen_ai.request.model']}`, kind: spanKinds.client, attributes };
}

/**
 * Returns the parameters of a model call as attributes. A layer may have put anything into the parameters, so values of
 * a wrong type are left out.
 */
function describeParams({ temperature, maxTokens, topP, topK, seed }: PlainObject): Attributes {
  const number = (value: unknown) => (typeof value === 'number' ? value : undefined);
  const double = (value: unknown) => (typeof value === 'number' ? { double: value } : undefined);
  return {
    'gen_ai.request.max_tokens': number(maxTokens),
    'gen_ai.request.seed': number(seed),
    'gen_ai.request.temperature': double(temperature),
    'gen_ai.request.top_k': double(topK),
    'gen_ai.request.top_p': double(topP),
  };
}

function describeReply({ finishReason, usage, response }: ModelReply, mask: Mask): Attributes {
  return {
    'gen_ai.response.finish_reasons': [finishReason.replaceAll('-', '_')],
    'gen_ai.response.id': response?.id === undefined ? undefined : nameText(response.id, mask),
    'gen_ai.response.model': response?.modelId === undefined ? undefined : nameText(response.modelId, mask),
    ...describeUsage(usage),
  };
}

export function describeUsage(usage: TokenUsage): Attributes {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    'gen_ai.usage.input_tokens': inputTokens,
    'gen_ai.usage.output_tokens': outputTokens,
    'gen_ai.usage.cache_read.input_tokens': cachedInputTokens,
    'gen_ai.usage.cache_creation.input_tokens': cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': reasoningTokens,
  };
}

function describeToolCall({ chain }: RunningSpan, place: TurnPlace) {
  const tool = nameText(chain.label, chain.mask);
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool,
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': nameText(chain.id, chain.mask),
    ...whose(place),
  };
  return { name: `execute_tool ${tool}`, kind: spanKinds.internal, attributes };
}

/**
 * Makes the spans of layers. All of them are children of the chain's span. Only their start and end times show how the
 * layers are nested. `endedAt`: the time at which the chain of these layers ended, on the monotonic clock.
 */
export function spansOfLayers({ chain, layers }: RunningSpan, place: TurnPlace, endedAt: number): OtlpSpan[] {
  return layers.map((layer, index) => {
    return spanOfLayer(layer, chain.spanIds.inside(`layer/${index}`), chain.mask, place, endedAt);
  });
}

function spanOfLayer(
  recorded: RecordedLayer,
  spanIds: SpanIds,
  mask: Mask,
  place: TurnPlace,
  endedAt: number,
): OtlpSpan {
  const { layer, outcome, startedAt, totalMs, ownMs, error } = recorded;
  const extension = nameText(layer.extension, mask);
  return toSpan(place, spanIds, {
    name: `layer ${extension}`,
    kind: spanKinds.internal,
    startTimeUnixNano: nanosAt(place, startedAt),
    endTimeUnixNano: nanosAt(place, outcome === 'running' ? endedAt : startedAt + totalMs),
    attributes: {
      'goondan.extension': extension,
      'goondan.layer': nameText(layer.name, mask),
      'goondan.kind': layer.kind,
      'goondan.own_time_ms': { double: Math.round(ownMs * 1_000) / 1_000 },
      'goondan.outcome': outcome,
      'goondan.changed': recorded.changed !== undefined,
      'goondan.result_changed': recorded.resultChanged !== undefined,
      'goondan.message_events': (recorded.events?.length ?? 0) + (recorded.emittedMore ?? 0),
      ...(error === undefined ? {} : { 'error.type': errorType(error, mask) }),
    },
    // A skipped layer failed, but its chain did not.
    status: outcome === 'failed' ? failedStatus(error, mask, place.hasContent) : {},
  });
}
