import { join, resolve } from 'node:path';

export interface StateRootChoice {
  /** `--state-root`. */
  readonly option?: string;
  /** `GOONDAN_STATE_ROOT`. */
  readonly environment?: string;
  readonly home: string;
}

/** Where all state lives: never in the project's folder unless somebody says so. */
export function stateRoot({ option, environment, home }: StateRootChoice): string {
  return resolve(option || environment || join(home, '.goondan'));
}
