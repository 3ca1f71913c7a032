import { realpathSync } from 'node:fs';

/**
 * Makes the next import of these files load them again. Code that has imported a file before keeps the module that it
 * has. Bun keys its modules by the real path of their file.
 */
export function forgetModules(files: readonly string[]): void {
  for (const file of files) {
    delete require.cache[file];
    delete require.cache[realPathOf(file)];
  }
}

/** Returns the path itself for a file that does not exist any more. */
function realPathOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
