/** The text of a turn's file as its lines. Pure; what cannot be read is counted, like what was not written. */
import { isPlainObject } from '../json/copy-json.ts';
import { isTraceLine } from './check-trace-line.ts';
import type { TraceLine } from './trace-lines.ts';

/**
 * Of a whole file or of a part. The last line may be on its way. What a later version adds is left alone.
 */
export function decodeTraceLines(text: string): TraceLine[] {
  const decoded = text.split('\n').map(decodeLine);
  return decoded.flatMap((line, index) => {
    if (line !== 'damaged') return line ?? [];
    return index === decoded.length - 1 ? [] : { type: 'dropped', count: 1 };
  });
}

function decodeLine(text: string): TraceLine | 'damaged' | undefined {
  if (text === '') return undefined;
  try {
    const line: unknown = JSON.parse(text);
    if (!isPlainObject(line)) return 'damaged';
    if (isTraceLine(line)) return line;
    return typeof line['type'] === 'string' && !known.has(line['type']) ? undefined : 'damaged';
  } catch {
    return 'damaged';
  }
}

const known: ReadonlySet<string> = new Set<TraceLine['type']>([
  'start',
  'beginning',
  'resume',
  'effect',
  'chain',
  'halt',
  'end',
  'dropped',
  'cut',
]);
