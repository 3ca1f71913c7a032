import { expect, test } from 'bun:test';
import { mostOutputOf, mostTextOf } from './uncounted-model.ts';

const thinking = (value: Record<string, string | number>) => ({ providerOptions: { anthropic: { thinking: value } } });
const enabled = thinking({ type: 'enabled', budgetTokens: 8_000 });
const maxTokens = 100;

test.each([
  ['of the call', { ...enabled, maxTokens }, {}, 8_100],
  ['of the params of the Model', {}, { params: { ...enabled, maxTokens } }, 8_100],
  ['of the options of the Model', { maxTokens }, { options: enabled }, 8_100],
  ['without a number', { ...thinking({ type: 'enabled' }), maxTokens }, {}, 1_124],
  ['of a wrong number', { ...thinking({ type: 'enabled', budgetTokens: -1e9 }), maxTokens }, {}, 1_124],
  ['that the call switches off', { ...thinking({ type: 'disabled' }), maxTokens }, { options: enabled }, 100],
  ['of a model without such a sum', { ...enabled, maxTokens }, { provider: 'openai' }, 100],
])('Y-04 the most tokens of an answer have the thinking %s', (_, params, spec, most) => {
  const model = { provider: 'anthropic', model: 'm', ...spec };
  expect(mostOutputOf(model, params, undefined)).toBe(most);
  expect(mostTextOf(model, params, undefined)).toBe(maxTokens);
});

test('Y-04 thinking is no maximum of an answer', () => {
  expect(mostOutputOf({ provider: 'anthropic', model: 'm' }, enabled, undefined)).toBeUndefined();
});

test.each([-1, NaN, Infinity, 0.5])('Y-04 %p is not a maximum of an answer, so the price file has it', (wrong) => {
  const cited = { source: 'https://example.org', date: '2026-11-17' };
  const price = { provider: 'openai', model: 'm', input: 1, output: 1, maxOutputTokens: 50, ...cited };
  const prices = { currency: 'USD', models: [price] };
  expect(mostTextOf(price, { maxTokens: wrong }, prices)).toBe(50);
  expect(mostTextOf(price, { maxTokens: wrong }, undefined)).toBeUndefined();
});
