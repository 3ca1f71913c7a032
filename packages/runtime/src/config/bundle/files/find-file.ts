import { statSync } from 'node:fs';
import { type ErrorCode, GoondanError } from '@goondan/types';
import { resolveEntry } from '../../resolve-entry.ts';
import type { LoadedResource, ReferringResource } from '../bundle.ts';
import { errorIn, type Finding } from '../bundle-problem.ts';
import type { Path } from '../place.ts';

/** A document that names files, with the folder to which their names are relative. */
export type FileOwner = Pick<LoadedResource, 'folder' | 'document'> & Pick<ReferringResource, 'identity'>;

/** Returns the real path of a file, which must be inside the folder of the resource. */
export async function findFile(
  loaded: FileOwner,
  name: string,
  path: Path,
  code: ErrorCode,
): Promise<string | Finding> {
  try {
    const file = await resolveEntry(loaded.folder, name, path.join('.'));
    if (file === undefined) return errorIn(loaded, path, code, `There is no file "${name}".`);
    if (!statSync(file).isFile()) return errorIn(loaded, path, code, `"${name}" is not a regular file.`);
    return file;
  } catch (error) {
    if (GoondanError.is(error)) return errorIn(loaded, path, error.code, error.message, error.suggestion);
    return errorIn(loaded, path, code, `"${name}" cannot be read.`);
  }
}
