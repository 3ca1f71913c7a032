import type { JsonValue } from '@goondan/types';
import type { ListedTool } from './mcp-client.ts';

/** Of all that makes a model or a layer treat a tool the way it does; as the server sent it, invisible characters too. */
export function fingerprintOf({ name, description = '', inputSchema, annotations = {} }: ListedTool): string {
  const text = canonical({ name, description, inputSchema, annotations });
  return `sha256:${new Bun.CryptoHasher('sha256').update(text).digest('hex')}`;
}

/** Equal values give equal text, whatever the order of their keys. */
function canonical(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.keys(value)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`);
  return `{${entries.join(',')}}`;
}
