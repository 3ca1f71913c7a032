import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

export interface StateRootChoice {
  /** `--state-root`. */
  readonly option?: string;
  /** `GOONDAN_STATE_ROOT`. */
  readonly environment?: string;
  readonly home: string;
}

/**
 * Where all state lives: never in the project's folder unless somebody says so. Links are followed, so that two names of a
 * folder are one state root, with one control socket for each workspace.
 */
export function stateRoot({ option, environment, home }: StateRootChoice): string {
  return followLinks(resolve(option || environment || join(home, '.goondan')));
}

/** As far as it is there. */
function followLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(followLinks(parent), basename(path));
  }
}
