import { join } from 'node:path';
import { followLinks } from './follow-links.ts';

export interface StateRootChoice {
  /** `--state-root`. */
  readonly option?: string;
  /** `GOONDAN_STATE_ROOT`. */
  readonly environment?: string;
  readonly home: string;
}

/**
 * Returns the folder of all state: never the folder of the bundle, unless an option says so. Links are resolved, so
 * that two names of a folder are one state root, with one control socket per workspace.
 */
export function stateRoot({ option, environment, home }: StateRootChoice): string {
  return followLinks(option || environment || join(home, '.goondan'));
}
