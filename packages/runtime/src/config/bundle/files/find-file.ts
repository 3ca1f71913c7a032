import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type ErrorCode, GoondanError } from '@goondan/types';
import { resolveEntry } from '../../resolve-entry.ts';
import type { LoadedResource, ReferringResource } from '../bundle.ts';
import { errorIn, type Finding } from '../bundle-problem.ts';
import type { Path } from '../place.ts';

/** A document that names files, with the folder to which their names are relative. */
export type FileOwner = Pick<LoadedResource, 'folder' | 'document'> & Pick<ReferringResource, 'identity'>;

/**
 * Returns the real path of a file, which must be inside the folder of the resource. `suggest`: makes the suggestion for the path
 * that was tried; that of the code when absent.
 */
export async function findFile(
  loaded: FileOwner,
  name: string,
  path: Path,
  code: ErrorCode,
  suggest?: (tried: string) => string,
): Promise<string | Finding> {
  const refuse = (message: string) => errorIn(loaded, path, code, message, suggest?.(join(loaded.folder, name)));
  try {
    const file = await resolveEntry(loaded.folder, name, path.join('.'));
    if (file === undefined) return refuse(`There is no file "${name}".`);
    if (!statSync(file).isFile()) return refuse(`"${name}" is not a regular file.`);
    return file;
  } catch (error) {
    if (GoondanError.is(error)) return errorIn(loaded, path, error.code, error.message, error.suggestion);
    return refuse(`"${name}" cannot be read.`);
  }
}
