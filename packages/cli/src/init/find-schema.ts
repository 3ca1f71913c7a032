import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** The path of the schema after an install in the bundle's own folder. The templates refer to it. */
export const installedSchema = 'node_modules/@goondan/runtime/schema/goondan.schema.json';

/** Returns true if Goondan is in the `node_modules` of the bundle or of a folder above, where `tsc` finds its types. */
export function isInstalledAt(bundle: string): boolean {
  return existsSync(join(bundle, findSchema(bundle)));
}

/**
 * Returns the path from a bundle to the schema for editors, in the `node_modules` of its folder, or of the nearest
 * folder above. The path is relative, because the file that contains it is shared with other people. If the schema is
 * not installed yet, returns `installedSchema`.
 */
export function findSchema(bundle: string, exists: (path: string) => boolean = existsSync): string {
  for (let folder = bundle; ; folder = dirname(folder)) {
    const path = join(folder, installedSchema);
    if (exists(path)) return relative(bundle, path).replaceAll('\\', '/');
    if (folder === dirname(folder)) return installedSchema;
  }
}
