/**
 * The reason why a migration left an instance in format 1, as text in its folder. The paths in the text are written without
 * the folder of the instance, because a backup may bring it to another place.
 */
import type { Fs } from '../../ports/fs.ts';
import type { pathsIn } from '../layout/instance-paths.ts';
import { replaceFile } from '../lines/replace-file.ts';

type Paths = Pick<ReturnType<typeof pathsIn>, 'folder' | 'migrationProblem'>;

/** The text in place of the folder. */
const FOLDER = '<folder>';

export async function writeMigrationProblem(fs: Fs, paths: Paths, problem: string): Promise<void> {
  await replaceFile(fs, paths.migrationProblem, Buffer.from(problem.replaceAll(paths.folder, FOLDER)));
}

/** Returns `undefined` when no migration left the instance. */
export async function readMigrationProblem(fs: Fs, paths: Paths): Promise<string | undefined> {
  const bytes = await fs.read(paths.migrationProblem);
  return bytes && new TextDecoder().decode(bytes).replaceAll(FOLDER, paths.folder);
}
