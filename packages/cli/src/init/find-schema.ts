import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** The place of the schema after an install in the bundle's own folder, as the templates name it. */
export const installedSchema = 'node_modules/@goondan/runtime/schema/goondan.schema.json';

/**
 * Returns the path from a bundle to the schema for editors: in the nearest `node_modules`, here or above. The path is
 * relative, because the file that names it is shared with others; before an install it is the usual place.
 */
export function findSchema(bundle: string, exists: (path: string) => boolean = existsSync): string {
  for (let folder = bundle; ; folder = dirname(folder)) {
    const path = join(folder, installedSchema);
    if (exists(path)) return relative(bundle, path).replaceAll('\\', '/');
    if (folder === dirname(folder)) return installedSchema;
  }
}
