import { bundleFolder, type BundleOptions } from '../common-options.ts';
import { quoteForShell } from '../quote-for-shell.ts';

/** What to type to start the swarm that a command did not find running. */
export function startCommand(options: BundleOptions): string {
  const { swarm, stateRoot } = options;
  return [
    'gdn run',
    quoteForShell(bundleFolder(undefined, options)),
    ...(swarm === undefined ? [] : ['--swarm', quoteForShell(swarm)]),
    ...(stateRoot === undefined ? [] : ['--state-root', quoteForShell(stateRoot)]),
    '--detach',
  ].join(' ');
}
