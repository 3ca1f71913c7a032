import { expect, test } from 'bun:test';
import { parseModelName } from './references.ts';

test('the name of a model may contain slashes', () => {
  expect(parseModelName('openai/org/model-1')).toEqual({ provider: 'openai', model: 'org/model-1' });
  expect([parseModelName('openai/'), parseModelName('Model/main')]).toEqual([undefined, undefined]);
});
