import { expect, test } from 'bun:test';
import { traceParent } from './trace-parent.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const of = (headers: Record<string, string>) => traceParent(new Request('http://x/', { headers }));

test('R-08 a request has the trace and the span of its header', () => {
  const event = { traceId, parentSpanId: 'b7ad6b7169203331' };
  expect(of({ traceparent: `00-${traceId}-b7ad6b7169203331-01` })).toEqual(event);
  expect(of({ traceparent: `00-${traceId}-b7ad6b7169203331-00` })).toEqual({ ...event, isSampled: false });
});

test('a request without the header, or with a malformed one, has no trace', () => {
  expect([of({}), of({ traceparent: traceId })]).toEqual([{}, {}]);
});
