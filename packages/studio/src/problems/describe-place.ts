import type { CodePlace } from '@goondan/cli/studio';

/** Writes a place for editors: `extensions/house-rules.ts:14:7`. */
export function describePlace({ file, line, column }: CodePlace): string {
  return `${file}:${line}:${column}`;
}
