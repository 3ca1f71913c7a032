import { writeSync } from 'node:fs';

/**
 * Writes a text to standard error. If that fails, for example because standard error is a file on a full disk, the text is
 * lost: nobody can be told, and a stream of Node would end the process.
 */
export function writeStandardError(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // See above.
  }
}
