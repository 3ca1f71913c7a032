/**
 * Finds the parts of a message that only another provider understands: its reasoning, its own kinds of parts, and calls
 * of tools that it ran itself. A conversation has such parts after its model was changed. They are not sent, because
 * other providers refuse them, or take them for their own.
 */
import type { AssistantPart, ProviderOptions } from '@goondan/types';
import { type ProviderName, providers } from './provider-table.ts';

/** Returns the name of a provider in `providerOptions`. */
export function optionsKeyOf(provider: string): string {
  return provider === 'openai-compatible' ? 'openaiCompatible' : provider;
}

export function isForeign(part: AssistantPart, provider: ProviderName): boolean {
  switch (part.type) {
    case 'custom': {
      const [owner = ''] = part.kind.split('.');
      return owner !== provider && Object.hasOwn(providers, owner);
    }
    case 'reasoning':
      return isOfOthers(part.providerOptions, provider);
    case 'tool-call':
      return part.providerExecuted === true && !canRunTools(part.providerOptions, provider);
    case 'tool-result':
      // In a message of the model, only results of the provider's own tools are parts.
      return !canRunTools(part.providerOptions, provider);
    default:
      return false;
  }
}

/** Chat completions have no tools that the provider runs itself. */
function canRunTools(options: ProviderOptions | undefined, provider: ProviderName): boolean {
  return (provider === 'anthropic' || provider === 'google') && !isOfOthers(options, provider);
}

/** Returns true if the options name other providers, and not this one. */
function isOfOthers(options: ProviderOptions | undefined, provider: ProviderName): boolean {
  const names = Object.keys(options ?? {});
  return names.length > 0 && !names.includes(optionsKeyOf(provider));
}
