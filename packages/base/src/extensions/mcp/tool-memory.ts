/**
 * The extension's state: the tools that it has seen, and the tools that it withholds, which `gdn mcp approve` lists.
 * When a turn is resumed, the stored state is merged with the tools that this process has seen.
 */
import type { JsonObject, JsonValue } from '@goondan/types';
import { isObject } from '../../json/is-object.ts';
import { cleanText } from '../../text/clean-text.ts';
import type { Fingerprints, Withheld } from './judge-tools.ts';
import { asText } from './tool-result.ts';

const LONGEST_DESCRIPTION = 1_000;

export function readSeen(state: JsonValue): Fingerprints {
  const seen = isObject(state) ? state.seen : undefined;
  if (!Array.isArray(seen)) return new Map();
  return new Map(
    seen.flatMap((pair): [string, string][] => {
      const [name, fingerprint] = Array.isArray(pair) ? pair : [];
      return typeof name === 'string' && typeof fingerprint === 'string' ? [[name, fingerprint]] : [];
    }),
  );
}

/** A tool that waits for approval, as stored in the state. */
export interface WithheldTool {
  readonly tool: string;
  readonly fingerprint: string;
  readonly reason: string;
  /** The description, cleaned and cut. */
  readonly description: string;
}

export function readWithheld(state: JsonValue): WithheldTool[] {
  const withheld = isObject(state) ? state.withheld : undefined;
  if (!Array.isArray(withheld)) return [];
  return withheld.flatMap((item): WithheldTool[] => {
    if (!isObject(item)) return [];
    const { tool, fingerprint, reason, description } = item;
    if (typeof tool !== 'string' || typeof fingerprint !== 'string') return [];
    return [{ tool, fingerprint, reason: asText(reason), description: asText(description) }];
  });
}

export function toState(seen: Fingerprints, withheld: readonly Withheld[]): JsonObject {
  return {
    // Stored as pairs instead of an object, because a server may name a tool `__proto__`.
    seen: [...seen].map(([name, fingerprint]) => [name, fingerprint]),
    withheld: withheld
      .filter(({ reason }) => reason !== 'unusable')
      .map(({ tool, fingerprint, reason }) => ({
        tool: tool.name,
        fingerprint,
        reason,
        description: cleanText(tool.description ?? '', LONGEST_DESCRIPTION),
      })),
  };
}
