/**
 * Encodes a line of a turn's trace file. Empty lists and counts of 0 are left out of a chain, because most layers
 * change nothing. Chains inside another chain have their own lines.
 */
import type { JsonValue } from '@goondan/types';
import { isJson } from '../json/copy-json.ts';
import { defined } from '../json/defined.ts';
import { type Mask, maskJson, maskTexts } from '../log/mask-secrets.ts';
import type { TraceLine } from './trace-lines.ts';
import type { ChainRecord, LayerRecord } from './turn-trace.ts';

/**
 * Encodes a line and masks its secrets. Almost no line has one, so the text of the line is searched once. Its texts are
 * masked one by one only if the search finds something, or if the text has escapes, which may hide a secret.
 */
export function encodeMasked(line: TraceLine, mask: Mask): string {
  const text = encodeTraceLine(line);
  if (mask.isEmpty === true || (!text.includes('\\') && mask(text) === text)) return text;
  // The numbers of an effect are values of others; all other numbers are counts and times of the runtime.
  const maskValue = line.type === 'effect' ? maskJson : maskTexts;
  // Safe: `isJson` has just checked the line. Without a secret, the line itself is returned, and its text is done.
  if (isJson(line, true) && maskValue(line as unknown as JsonValue, mask) === line) return text;
  // The text is parsed, because the line may have objects with a class or a `toJSON`, whose texts are only in their JSON.
  return JSON.stringify(maskValue(JSON.parse(text) as JsonValue, mask));
}

export function encodeTraceLine(line: TraceLine): string {
  return JSON.stringify(line.type === 'chain' ? { ...line, chain: withoutEmpty(line.chain) } : line);
}

function withoutEmpty({ layers, inside: _inside, called: _called, ...chain }: ChainRecord): object {
  const { startMs, totalMs, limitMs, waitedMs, askedMs } = chain;
  const times = Object.entries(defined({ startMs, totalMs, limitMs, waitedMs, askedMs }));
  const rounded = { ...chain, ...Object.fromEntries(times.map(([name, ms]) => [name, round(ms)])) };
  return layers.length === 0 ? rounded : { ...rounded, layers: layers.map(layerWithoutEmpty) };
}

function layerWithoutEmpty(layer: LayerRecord): object {
  const { extension, name, kind, changed, resultChanged, emitted, emittedMore, messages, outcome, ...rest } = layer;
  const { startMs, ownMs, waitedMs, totalMs, ...more } = rest;
  return {
    extension,
    name,
    kind,
    startMs: round(startMs),
    ownMs: round(ownMs),
    ...(waitedMs === undefined ? {} : { waitedMs: round(waitedMs) }),
    totalMs: round(totalMs),
    ...more,
    ...(outcome === 'passed' ? {} : { outcome }),
    ...(changed.length === 0 ? {} : { changed }),
    ...(resultChanged.length === 0 ? {} : { resultChanged }),
    ...(emitted.length === 0 ? {} : { emitted }),
    ...(emittedMore === 0 ? {} : { emittedMore }),
    ...(messages.length === 0 ? {} : { messages }),
  };
}

/** Rounds to the microsecond. */
function round(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
