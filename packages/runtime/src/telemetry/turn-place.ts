/** The data that all spans of one turn share. */
import type { ModelSpec } from '../config/model-spec.ts';
import { defined } from '../json/defined.ts';
import type { Mask } from '../log/mask-secrets.ts';
import type { WatchedTurn } from '../trace/layer-span.ts';
import { type SpanIds, toTraceId } from '../trace/span-id.ts';
import { type Attributes, type OtlpSpan, toAttributes, unixNanos } from './otlp.ts';

export interface TurnPlace {
  readonly turn: WatchedTurn;
  /** The start of the turn on the monotonic clock. */
  readonly startedAt: number;
  readonly swarm: string;
  /** The reference of the agent's own model; a step may use another one. */
  readonly modelRef: string;
  /** The agent's models by reference. */
  readonly models: Readonly<Record<string, Pick<ModelSpec, 'provider' | 'model'>>>;
  /** If true, messages, arguments and results are included. */
  readonly hasContent: boolean;
}

/** Makes a span of the turn from the fields that are not the same for all of its spans. */
export function toSpan(
  { turn }: TurnPlace,
  { fields: { spanId, parentSpanId } }: SpanIds,
  {
    attributes,
    ...span
  }: Omit<OtlpSpan, 'traceId' | 'spanId' | 'parentSpanId' | 'attributes'> & {
    readonly attributes: Attributes;
  },
): OtlpSpan {
  const traceId = toTraceId(turn.spanIds.traceId);
  return { traceId, spanId, ...defined({ parentSpanId }), ...span, attributes: toAttributes(attributes) };
}

/** The maximum number of characters of a name, which may come from a model. */
const LONGEST_NAME = 200;

/** Masks a name and then cuts it. In the other order, a secret that was cut would not be found. */
export function nameText(text: string, mask: Mask): string {
  return mask(text).slice(0, LONGEST_NAME);
}

/**
 * Returns the attributes that identify the agent and the conversation. An agent's name contains no slash, so two
 * conversations of a swarm never have the same id.
 */
export function whose({ turn, swarm }: TurnPlace): Attributes {
  const { agentName, instanceKey, mask } = turn;
  return {
    'gen_ai.agent.id': `${swarm}/${agentName}`,
    'gen_ai.agent.name': agentName,
    'gen_ai.conversation.id': nameText(`${agentName}/${instanceKey}`, mask),
  };
}

/** Returns the provider and the model as attributes of the GenAI conventions. */
export function describeModel({ models }: Pick<TurnPlace, 'models'>, modelRef: string, mask: Mask) {
  const named = Object.hasOwn(models, modelRef) ? models[modelRef] : undefined;
  return {
    'gen_ai.provider.name': nameText(providerName(named?.provider), mask),
    'gen_ai.request.model': nameText(named?.model ?? modelRef, mask),
  };
}

/**
 * Returns the provider's name in the GenAI conventions. A provider that the conventions do not list keeps its name from
 * the Model resource.
 */
function providerName(provider: string | undefined): string {
  return provider === 'google' ? 'gcp.gemini' : (provider ?? '_OTHER');
}

/** Converts a time of the monotonic clock to calendar time, in nanoseconds. */
export function nanosAt({ turn, startedAt }: TurnPlace, elapsed: number): string {
  return unixNanos(turn.startedAt, elapsed - startedAt);
}
