import { bundleFolder, type BundleOptions } from '../common-options.ts';
import { quoteForShell } from '../quote-for-shell.ts';
import { optionsAgain } from './options-again.ts';

/** Returns the command that starts the swarm, for an error that says that the swarm does not run. */
export function startCommand(options: BundleOptions): string {
  const { bundle: _, ...others } = options;
  return ['gdn run', quoteForShell(bundleFolder(undefined, options)), ...optionsAgain(others), '--detach'].join(' ');
}
