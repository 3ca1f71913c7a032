/** What all spans of one turn have in common. */
import type { Mask } from '../log/mask-secrets.ts';
import type { WatchedTurn } from '../trace/layer-span.ts';
import { toTraceId } from '../trace/span-id.ts';
import { type AttributeValue, unixNanos } from './otlp.ts';

export interface ModelName {
  readonly provider: string;
  readonly model: string;
}

export interface TurnPlace {
  readonly turn: WatchedTurn;
  /** On the clock that only grows. */
  readonly startedAt: number;
  readonly swarm: string;
  /** The agent's own, by reference; a step may ask another. */
  readonly modelRef: string;
  /** By reference. */
  readonly models: Readonly<Record<string, ModelName>>;
}

/** Of a name: some are a model's own words. */
const LONGEST_NAME = 200;

/** Masked first: half a secret would not be found. */
export function nameText(text: string, mask: Mask): string {
  return mask(text).slice(0, LONGEST_NAME);
}

/** The agent's name has no slash in it: no two conversations of a swarm have the same id. */
export function whose({ turn, swarm }: TurnPlace): Readonly<Record<string, AttributeValue>> {
  const { agentName, instanceKey, mask } = turn;
  return {
    'gen_ai.agent.id': `${swarm}/${agentName}`,
    'gen_ai.agent.name': agentName,
    'gen_ai.conversation.id': nameText(`${agentName}/${instanceKey}`, mask),
  };
}

/** Who is asked for a reply, as the conventions spell it. */
export function describeModel({ models }: Pick<TurnPlace, 'models'>, modelRef: string, mask: Mask) {
  const named = Object.hasOwn(models, modelRef) ? models[modelRef] : undefined;
  return {
    'gen_ai.provider.name': nameText(providerName(named?.provider), mask),
    'gen_ai.request.model': nameText(named?.model ?? modelRef, mask),
  };
}

/** One that the conventions do not know is called what the Model calls it. */
function providerName(provider: string | undefined): string {
  return provider === 'google' ? 'gcp.gemini' : (provider ?? '_OTHER');
}

export function traceIdOf({ turn }: TurnPlace): string {
  return toTraceId(turn.spanIds.traceId);
}

/** A moment of the clock that only grows, as one of the calendar. */
export function nanosAt({ turn, startedAt }: TurnPlace, elapsed: number): string {
  return unixNanos(turn.startedAt, elapsed - startedAt);
}
