import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** The absolute path with every link resolved, as far as it exists. */
export function followLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const whole = resolve(path);
    const parent = dirname(whole);
    return parent === whole ? whole : join(followLinks(parent), basename(whole));
  }
}
