import { realpathSync } from 'node:fs';
import { GoondanError } from '@goondan/types';

/** Returns the real path of a folder. **Errors** — `E_BUNDLE_MISSING`. */
export function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw new GoondanError('E_BUNDLE_MISSING', `There is no folder "${path}".`, { cause: error });
  }
}
