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
 * Where all state lives: never in the project's folder unless somebody says so. Links are followed, so that two names of a
 * folder are one state root, with one control socket for each workspace.
 */
export function stateRoot({ option, environment, home }: StateRootChoice): string {
  return followLinks(option || environment || join(home, '.goondan'));
}
