/** Decodes the text of a turn's trace file into lines. Pure. Unreadable lines are counted as missing. */
import { isPlainObject } from '../json/copy-json.ts';
import { isTraceLine } from './check-trace-line.ts';
import type { LineOf, TraceLine } from './trace-lines.ts';
import type { ChainRecord } from './turn-trace.ts';

/** Decodes a whole file or a part of it. The last line may be incomplete. */
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
    if (!isPlainObject(line) || !isTraceLine(line)) return 'damaged';
    return line.type === 'chain' ? withEmpty(line) : line;
  } catch {
    return 'damaged';
  }
}

/** Restores the empty lists and zero counts that `encodeTraceLine` leaves out. */
function withEmpty(line: LineOf<'chain'>): TraceLine {
  // Safe: a chain in a file may lack `layers`, although its type requires the list.
  const { layers = [] } = line.chain as Partial<ChainRecord>;
  const whole = layers.map(({ extension, name, kind, ...rest }) => ({ extension, name, kind, ...emptyLayer, ...rest }));
  return { ...line, chain: { ...line.chain, layers: whole, inside: [], called: [] } };
}

const emptyLayer = {
  startMs: 0,
  ownMs: 0,
  totalMs: 0,
  outcome: 'passed',
  changed: [],
  resultChanged: [],
  emitted: [],
  emittedMore: 0,
  messages: [],
} as const;
