/**
 * Finds `@goondan/v010`, which runs extensions for v0.10. The runtime does not depend on it: it comes with `@goondan/cli`,
 * and other programs install it. The copy beside the program is preferred to that of a bundle.
 */
import { unlessThrows } from '../ports/unless-throws.ts';

export const V010_PACKAGE = '@goondan/v010';

/** Returns the path of the package's module, or `undefined` if it is not installed. `folder`: the folder of a bundle. */
export function findV010(folder?: string): string | undefined {
  const program = Bun.main.replace(/[\\/][^\\/]*$/, '');
  const folders = folder === undefined ? [program] : [program, folder];
  for (const from of folders) {
    const found = unlessThrows(() => Bun.resolveSync(V010_PACKAGE, from));
    if (found !== undefined) return found;
  }
  return undefined;
}
