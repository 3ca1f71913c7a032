/** Creates parts of a trace as if they had been recorded, for tests of code that shows traces. */
import type { MiddlewareKind } from '@goondan/types';
import type { ChainRecord, LayerRecord } from '../trace/turn-trace.ts';

/** Creates the record of a layer that did nothing. */
export function madeLayer(extension: string, more: Partial<LayerRecord> = {}): LayerRecord {
  return {
    extension,
    name: 'step',
    kind: 'step',
    startMs: 0,
    ownMs: 1,
    totalMs: 2,
    outcome: 'passed',
    changed: [],
    resultChanged: [],
    emitted: [],
    emittedMore: 0,
    messages: [],
    ...more,
  };
}

export function madeRecord(kind: MiddlewareKind, label: string, more: Partial<ChainRecord> = {}): ChainRecord {
  const times = { startMs: 0, totalMs: 2 };
  return { kind, label, id: label, spanId: `span of ${label}`, ...times, layers: [], inside: [], called: [], ...more };
}
