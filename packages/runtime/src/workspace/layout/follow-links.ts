import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Returns the absolute path with all symbolic links resolved, as far as the path exists. */
export function followLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const whole = resolve(path);
    const parent = dirname(whole);
    return parent === whole ? whole : join(followLinks(parent), basename(whole));
  }
}
