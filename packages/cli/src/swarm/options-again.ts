import type { BundleOptions } from '../common-options.ts';
import { quoteForShell } from '../quote-for-shell.ts';

/** Returns the options that selected the swarm, for a suggested command. */
export function optionsAgain({ bundle, swarm, store, stateRoot }: BundleOptions): string[] {
  const given = { '--bundle': bundle, '--swarm': swarm, '--store': store, '--state-root': stateRoot };
  return Object.entries(given).flatMap(([flag, value]) => (value === undefined ? [] : [flag, quoteForShell(value)]));
}
