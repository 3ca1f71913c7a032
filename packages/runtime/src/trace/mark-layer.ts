/**
 * Digests everything a layer did before and after `next()`. Two layers with equal digests did the same, even if their
 * records show only a part of it. Times are not included.
 */
import type { JsonValue, MessageEvent } from '@goondan/types';
import { diffJson } from '../json/diff-json.ts';
import { digestJson } from '../json/digest-json.ts';
import { previewJson } from '../json/preview-json.ts';
import { type Mask, maskBeginning } from '../log/mask-secrets.ts';
import type { LayerRecord } from './turn-trace.ts';
import type { Difference, RecordedLayer } from './recorded-layer.ts';

const DIGITS = 16;
/** The limits for the compared changes, which are higher than the limits for display. */
const everything = { changes: 20_000, characters: 10_000_000 };

/**
 * Makes the marks of a layer. Secrets are masked first, because a digest of a secret would make it possible to check
 * guesses.
 */
export function markLayer(layer: RecordedLayer, mask: Mask): LayerRecord['marks'] & {} {
  const { changed, resultChanged, events = [], emittedBefore } = layer;
  const before = emittedBefore < 0 ? events.length : emittedBefore;
  return {
    in: markOf(byName(changed), events.slice(0, before), mask),
    out: markOf(resultChanged, events.slice(before), mask),
  };
}

export function markFields(fields: object, mask: Mask): string {
  return digestJson(readMasked(fields, everything.characters, mask)).slice(0, DIGITS);
}

function markOf(difference: Difference | undefined, events: readonly MessageEvent[], mask: Mask): string {
  const shorten = (value: unknown, longest: number) => readMasked(value, longest, mask);
  const { changes } = difference ? diffJson(difference.before, difference.after, everything, shorten) : { changes: [] };
  const emitted = events.map((event) => mask(JSON.stringify(withoutTime(event))));
  // Safe: the values in changes are texts.
  return digestJson([changes as unknown as JsonValue, emitted]).slice(0, DIGITS);
}

function readMasked(value: unknown, longest: number, mask: Mask): string {
  const { text, isCut } = previewJson(value, longest);
  return isCut ? maskBeginning(text, mask) : mask(text);
}

function withoutTime(event: MessageEvent): object {
  if (!('message' in event)) return event;
  const { createdAt: _, ...message } = event.message;
  return { ...event, message };
}

/** Catalogs are compared by the names of their tools, not by position. */
const CATALOGS = ['toolCatalog', 'tools'];

export function byName(difference: Difference | undefined): Difference | undefined {
  if (difference === undefined) return undefined;
  return { before: withNames(difference.before), after: withNames(difference.after) };
}

function withNames(fields: unknown): unknown {
  const entries = Object.entries(fields as Readonly<Record<string, unknown>>);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, CATALOGS.includes(name) && Array.isArray(value) ? toNamed(value) : value]),
  );
}

function toNamed(items: readonly unknown[]): unknown {
  const names = items.map((item) =>
    typeof item === 'object' && item !== null ? Reflect.get(item, 'name') : undefined,
  );
  const areNames = names.every((name) => typeof name === 'string') && new Set(names).size === names.length;
  return areNames ? Object.fromEntries(items.map((item, index) => [names[index], item])) : items;
}
