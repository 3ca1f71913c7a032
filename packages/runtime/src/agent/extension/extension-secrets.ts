/**
 * Secrets that extensions get while they run, such as tokens of a sign-in. They are masked from then on, like the secrets
 * of the plan, and never published on the bus.
 */
import type { GrowingMask } from '../../log/mask-secrets.ts';

/** The event with which an extension names its secrets: one text, or a list of texts. */
export const SECRETS_EVENT = 'extension.secrets';

/** The maximum number of secrets that the extensions of an agent may add. The cost of a mask grows with its secrets. */
export const MOST_SECRETS = 4_096;

/** Returns a function that adds the secrets of an extension to a mask. `refuse` gets the reason if they are not added. */
export function extensionSecrets(mask: GrowingMask, refuse: (problem: string, extension: string) => void) {
  const known = new Set<string>();
  return (value: unknown, extension: string): void => {
    const secrets: readonly unknown[] = Array.isArray(value) ? value : [value];
    const texts = secrets.filter((secret) => typeof secret === 'string');
    if (texts.length < secrets.length) return refuse('they must be texts', extension);
    const added = texts.filter((text) => !known.has(text));
    if (known.size + added.length > MOST_SECRETS) return refuse(`they are more than ${MOST_SECRETS}`, extension);
    for (const text of added) known.add(text);
    mask.add(added);
  };
}
