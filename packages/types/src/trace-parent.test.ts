import { describe, expect, test } from 'bun:test';
import { readTraceparent, writeTraceparent } from './trace-parent.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentSpanId = 'b7ad6b7169203331';

describe('traceparent', () => {
  test.each([
    [`00-${traceId}-${parentSpanId}-01`, { traceId, parentSpanId }],
    [`00-${traceId}-${parentSpanId}-03`, { traceId, parentSpanId }],
    [`00-${traceId}-${parentSpanId}-00`, { traceId, parentSpanId, isSampled: false as const }],
    [`cc-${traceId}-${parentSpanId}-01-what-the-future-will-be-like`, { traceId, parentSpanId }],
  ])('R-08 %s is read', (text, read) => {
    expect(readTraceparent(text)).toEqual(read);
  });

  test.each([
    '',
    traceId,
    `00-${traceId}-${parentSpanId}`,
    `00-${traceId}-${parentSpanId}-01-more`,
    `ff-${traceId}-${parentSpanId}-01`,
    `00-${'0'.repeat(32)}-${parentSpanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${parentSpanId}-01`,
    `00-${traceId}0-${parentSpanId}-01`,
    `00-${traceId}-${parentSpanId}-01\n`,
  ])('R-08 %p is ignored without an error', (text) => {
    expect(readTraceparent(text)).toBeUndefined();
  });

  test.each([true, false])('R-08 a written one is read again, sampled: %p', (isSampled) => {
    const text = writeTraceparent({ traceId, parentSpanId, isSampled });
    expect(readTraceparent(text)).toEqual({ traceId, parentSpanId, ...(isSampled ? {} : { isSampled: false }) });
  });
});
