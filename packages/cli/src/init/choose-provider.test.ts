import { expect, test } from 'bun:test';
import { chooseProvider } from './choose-provider.ts';

test.each([
  ['scripted', {}],
  ['anthropic', { OPENAI_API_KEY: 'b', ANTHROPIC_API_KEY: 'a' }],
  ['openai', { OPENAI_API_KEY: 'b', GOOGLE_GENERATIVE_AI_API_KEY: 'c' }],
  ['google', { GOOGLE_GENERATIVE_AI_API_KEY: 'c' }],
  ['scripted', { ANTHROPIC_API_KEY: '', OPENAI_API_KEY: ' ' }],
] as const)('%s for %p', (provider, environment) => {
  expect(chooseProvider(environment)).toBe(provider);
});
