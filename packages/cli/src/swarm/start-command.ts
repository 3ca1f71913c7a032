import { bundleFolder, type BundleOptions } from '../common-options.ts';
import { quoteForShell } from '../quote-for-shell.ts';
import { typedGdn } from '../typed-gdn.ts';
import { optionsAgain } from './options-again.ts';

/** Returns the command that starts the swarm, for an error that says that the swarm does not run. */
export function startCommand(options: BundleOptions): string {
  const { bundle: _, ...others } = options;
  return [
    `${typedGdn()} run`,
    quoteForShell(bundleFolder(undefined, options)),
    ...optionsAgain(others),
    '--detach',
  ].join(' ');
}
