/** The environment variables that the providers' own tools use: for the key, and for another address. */
export interface ProviderVariables {
  readonly key: string;
  readonly endpoint: string;
}

/** Providers that need a key. A new bundle uses the first provider whose key is set. */
export const providerVariables = {
  anthropic: { key: 'ANTHROPIC_API_KEY', endpoint: 'ANTHROPIC_BASE_URL' },
  openai: { key: 'OPENAI_API_KEY', endpoint: 'OPENAI_BASE_URL' },
  google: { key: 'GOOGLE_GENERATIVE_AI_API_KEY', endpoint: 'GOOGLE_GENERATIVE_AI_BASE_URL' },
} as const satisfies Record<string, ProviderVariables>;
