/** Chooses the provider of a new bundle: the first provider whose key is set, or else the template's scripted model. */
import { providerVariables } from '@goondan/runtime/internal';

export type Provider = keyof typeof providerVariables | 'scripted';

export function chooseProvider(environment: Readonly<Record<string, string | undefined>>): Provider {
  // The cast is safe: these are the keys of an object literal.
  const names = Object.keys(providerVariables) as (keyof typeof providerVariables)[];
  return names.find((name) => (environment[providerVariables[name].key] ?? '').trim() !== '') ?? 'scripted';
}
