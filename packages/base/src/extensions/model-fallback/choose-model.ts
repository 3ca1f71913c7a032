/** Chooses the model of a call, and remembers which models failed. Pure. */
import type { JsonObject, JsonValue } from '@goondan/types';
import { isObject } from '../../json/is-object.ts';

/** The state of a conversation. */
export interface FallbackState {
  /** The model that answers in place of another one, by the name of the other. */
  readonly instead: Readonly<Record<string, Takeover>>;
  /** The time until which a model is not tried, in milliseconds, by the name of the model. */
  readonly cooling: Readonly<Record<string, number>>;
}

export interface Takeover {
  readonly model: string;
  /** The failure that led to it, for people. */
  readonly reason: string;
}

export interface Choice {
  /** The models of the call, the asked one first. */
  readonly chain: readonly string[];
  /** The models of the chain that have failed in this call. */
  readonly tried: readonly string[];
  /** If true, the model that took over stays. Otherwise the first model that has cooled down is tried again. */
  readonly sticky: boolean;
  readonly now: number;
}

/**
 * Chooses a model that was not tried yet: the one that took over, or else the first that is not cooling down, or else the
 * one that will cool down first. Returns undefined when all were tried.
 */
export function chooseModel({ instead, cooling }: FallbackState, choice: Choice): string | undefined {
  const { chain, tried, sticky, now } = choice;
  const [asked = ''] = chain;
  const left = chain.filter((model) => !tried.includes(model));
  const isReady = (model: string) => (cooling[model] ?? 0) <= now;
  const current = instead[asked]?.model;
  if (sticky && current !== undefined && left.includes(current) && isReady(current)) return current;
  return left.find(isReady) ?? left.toSorted((one, other) => (cooling[one] ?? 0) - (cooling[other] ?? 0))[0];
}

export function readState(value: JsonValue): FallbackState {
  const { instead, cooling } = isObject(value) ? value : {};
  return {
    instead: Object.fromEntries(
      Object.entries(isObject(instead) ? instead : {}).flatMap(([asked, taken]) => {
        const { model, reason } = isObject(taken) ? taken : {};
        return typeof model === 'string' && typeof reason === 'string' ? [[asked, { model, reason }]] : [];
      }),
    ),
    cooling: Object.fromEntries(
      Object.entries(isObject(cooling) ? cooling : {}).filter((entry): entry is [string, number] => {
        return typeof entry[1] === 'number';
      }),
    ),
  };
}

/** Returns the state as it is stored, without models that have cooled down. */
export function writeState({ instead, cooling }: FallbackState, now: number): JsonObject {
  const still = Object.entries(cooling).filter(([, until]) => until > now);
  return {
    instead: Object.fromEntries(
      Object.entries(instead).map(([asked, { model, reason }]) => [asked, { model, reason }]),
    ),
    cooling: Object.fromEntries(still),
  };
}
