import type { JsonValue } from '@goondan/types';
import type { ListedTool } from './mcp-client.ts';

/**
 * Hashes everything that affects how a model or a layer treats a tool. Uses the text as the server sent it, including
 * invisible characters.
 */
export function fingerprintOf({ name, description = '', inputSchema, annotations = {} }: ListedTool): string {
  const text = canonical({ name, description, inputSchema, annotations });
  return `sha256:${new Bun.CryptoHasher('sha256').update(text).digest('hex')}`;
}

/** Returns equal text for equal values, whatever the order of their keys. */
function canonical(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.keys(value)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`);
  return `{${entries.join(',')}}`;
}
