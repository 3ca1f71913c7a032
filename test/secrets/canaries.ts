// This module has twenty secrets, each with the name of its environment variable. Every form of a secret contains this
// word.
const word = 'canary';

/**
 * The names of the secrets. bundle/goondan.yaml shows where each secret is declared. The last one is in the
 * environment, but is declared nowhere.
 */
export const names = [
  'MODEL_KEY',
  'MODEL_HEADER',
  'OTHER_MODEL_KEY',
  'BASH_TOKEN',
  'FETCH_TOKEN',
  'TOOL_KEY',
  'TOOL_LIST',
  'TOOL_OVER',
  'EXTENSION_KEY',
  'EXTENSION_OVER',
  'SWARM_EXTENSION_KEY',
  'AGENT_VARIABLE',
  'OTHER_AGENT_VARIABLE',
  'CONNECTION_SECRET',
  'CONNECTION_CONFIG',
  'CONNECTION_VARIABLE',
  'FROM_FILE',
  'OF_LINES',
  'AWKWARD',
  'AMBIENT',
] as const;

export type CanaryName = (typeof names)[number];

export const canaries = Object.fromEntries(names.map((name) => [name, secretOf(name)])) as Record<CanaryName, string>;

function secretOf(name: CanaryName): string {
  const plain = `${word}-${name.toLowerCase().replaceAll('_', '-')}-${name.length}`;
  if (name === 'AWKWARD') return `${plain} "quoted" & 100% \\ é + /`;
  if (name === 'OF_LINES')
    return ['-----BEGIN KEY-----', `${word}${'Ab9+'.repeat(12)}`, `${word}${'xY7/'.repeat(12)}`].join('\n');
  return plain;
}

/** Lists the secrets that a text contains, in any form that includes the word. */
export function findCanaries(text: string): CanaryName[] {
  const known = names.filter((name) => text.includes(canaries[name]));
  // A part of a secret counts as well.
  return known.length === 0 && text.includes(word) ? (['UNKNOWN'] as unknown as CanaryName[]) : known;
}
