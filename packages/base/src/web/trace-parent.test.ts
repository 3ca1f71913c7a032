import { expect, test } from 'bun:test';
import { traceParent } from './trace-parent.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const traceIdOf = (traceparent: string) => traceParent(new Request('http://x/', { headers: { traceparent } })).traceId;

test.each([
  `00-${trace}-b7ad6b7169203331-01`,
  `00-${trace}-b7ad6b7169203331-00`,
  `cc-${trace}-b7ad6b7169203331-01-what-the-future-will-be-like`,
])('the trace of %s', (header) => {
  expect(traceIdOf(header)).toBe(trace);
});

test.each([
  '',
  trace,
  `00-${trace}-b7ad6b7169203331`,
  `00-${trace}-b7ad6b7169203331-01-more`,
  `ff-${trace}-b7ad6b7169203331-01`,
  `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
  `00-${trace}-${'0'.repeat(16)}-01`,
  `00-${trace.toUpperCase()}-b7ad6b7169203331-01`,
  `00-${trace}0-b7ad6b7169203331-01`,
])('none of %p', (header) => {
  expect(traceIdOf(header)).toBeUndefined();
});
