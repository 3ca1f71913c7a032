import { expect, test } from 'bun:test';
import type { ModelMessage } from '@goondan/types';
import { estimateInput } from './estimate-call.ts';

const hello: ModelMessage = { role: 'user', content: 'Hello.' };

test('Y-04 the estimate of a call grows with its messages, its tools and its images', () => {
  const text = 'words '.repeat(1_000);
  const tool = { name: 'look__up', description: text, parameters: { type: 'object' } };
  const image = { type: 'image' as const, image: 'A'.repeat(2_000), mediaType: 'image/png' };
  const least = estimateInput([hello], []);
  expect(least).toBeWithin(1, 100);
  // A token has at least two bytes.
  expect(estimateInput([hello, { role: 'user', content: text }], []) - least).toBeGreaterThanOrEqual(text.length / 2);
  expect(estimateInput([hello], [tool]) - least).toBeGreaterThanOrEqual(text.length / 2);
  expect(estimateInput([hello, { role: 'user', content: [image] }], []) - least).toBeWithin(6_000, 6_200);
});
