import { resolve } from 'node:path';
import { stateRoot as chooseStateRoot } from '@goondan/runtime/control';
import { type BundleOptions, stateRootChoice } from '../common-options.ts';
import { optionsAgain } from './options-again.ts';

/**
 * Returns the options that select a swarm in a command that is typed in another folder, such as `--bundle /home/me/a`.
 * They name the state root only if it is not the usual one.
 */
export function optionsElsewhere({
  folder,
  swarm,
  store,
  stateRoot,
}: { readonly folder: string; readonly stateRoot: string } & Pick<BundleOptions, 'swarm' | 'store'>): string[] {
  const isUsual = stateRoot === chooseStateRoot(stateRootChoice({}));
  return optionsAgain({
    bundle: resolve(folder),
    ...(swarm === undefined ? {} : { swarm }),
    ...(store === undefined ? {} : { store }),
    ...(isUsual ? {} : { stateRoot }),
  });
}
