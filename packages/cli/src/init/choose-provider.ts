/** Chooses the provider of a new bundle: the first provider whose key is set, or else the template's scripted model. */
import { providerVariables } from '@goondan/runtime/internal';

/** The model of a new bundle, by its provider. */
export const firstModels = {
  anthropic: 'anthropic/claude-sonnet-4-5',
  openai: 'openai/gpt-5-mini',
  google: 'google/gemini-flash-latest',
} as const satisfies Record<keyof typeof providerVariables, string>;

export type Provider = keyof typeof firstModels | 'scripted';

export function chooseProvider(environment: Readonly<Record<string, string | undefined>>): Provider {
  // The cast is safe: these are the keys of an object literal.
  const names = Object.keys(providerVariables) as (keyof typeof providerVariables)[];
  return names.find((name) => (environment[providerVariables[name].key] ?? '').trim() !== '') ?? 'scripted';
}
