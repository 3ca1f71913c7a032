import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Where the schema is once the packages are installed in the bundle's own folder; what the templates say. */
export const installedSchema = 'node_modules/@goondan/runtime/schema/goondan.schema.json';

/**
 * The schema for editors as seen from a bundle: the one in the nearest `node_modules`, here or above. Never an absolute
 * path, because the file that names it is shared with others; where nothing is installed yet, the usual place.
 */
export function findSchema(bundle: string, exists: (path: string) => boolean = existsSync): string {
  for (let folder = bundle; ; folder = dirname(folder)) {
    const path = join(folder, installedSchema);
    if (exists(path)) return relative(bundle, path).replaceAll('\\', '/');
    if (folder === dirname(folder)) return installedSchema;
  }
}
