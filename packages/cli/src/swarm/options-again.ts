import type { BundleOptions } from '../common-options.ts';
import { quoteForShell } from '../quote-for-shell.ts';

/** What was typed to say which swarm is meant, to be typed in another command about it. */
export function optionsAgain({ bundle, swarm, stateRoot }: BundleOptions): string[] {
  const given = { '--bundle': bundle, '--swarm': swarm, '--state-root': stateRoot };
  return Object.entries(given).flatMap(([flag, value]) => (value === undefined ? [] : [flag, quoteForShell(value)]));
}
