import { join } from 'node:path';
import { followLinks } from './follow-links.ts';

export interface StateRootChoice {
  /** The value of `--state-root`. */
  readonly option?: string;
  /** The value of `GOONDAN_STATE_ROOT`. */
  readonly environment?: string;
  readonly home: string;
}

/**
 * Returns the folder of all state. It is never the folder of the bundle, unless an option says so. Symbolic links are
 * resolved, so that two paths to one folder are one state root, with one control socket per workspace.
 */
export function stateRoot({ option, environment, home }: StateRootChoice): string {
  return followLinks(option || environment || join(home, '.goondan'));
}
