/**
 * The environment variables that the providers' own tools use: for the API key, and for an address other than the
 * provider's public one. A new bundle uses the first provider whose key is set.
 */
export const providerVariables = {
  anthropic: { key: 'ANTHROPIC_API_KEY', endpoint: 'ANTHROPIC_BASE_URL' },
  openai: { key: 'OPENAI_API_KEY', endpoint: 'OPENAI_BASE_URL' },
  google: { key: 'GOOGLE_GENERATIVE_AI_API_KEY', endpoint: 'GOOGLE_GENERATIVE_AI_BASE_URL' },
} as const;

/** Returns the variables of a provider that needs a key. */
export function providerOf(provider: string) {
  const known: Readonly<Record<string, { readonly key: string; readonly endpoint: string }>> = providerVariables;
  return Object.hasOwn(known, provider) ? known[provider] : undefined;
}
