/** Whom a new bundle asks: the first provider whose key is set, or the script of its template. */

export const keyVariables = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
} as const;

export type Provider = keyof typeof keyVariables | 'scripted';

export function chooseProvider(environment: Readonly<Record<string, string | undefined>>): Provider {
  const isSet = (name: string) => (environment[name] ?? '').trim() !== '';
  if (isSet(keyVariables.anthropic)) return 'anthropic';
  if (isSet(keyVariables.openai)) return 'openai';
  return isSet(keyVariables.google) ? 'google' : 'scripted';
}
