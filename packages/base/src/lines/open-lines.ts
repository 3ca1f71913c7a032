import { appendFileSync, readFileSync } from 'node:fs';

/**
 * Returns the lines of a file to which the caller appends lines; an empty list when the file does not exist. If a crash
 * truncated the last line, ends it: otherwise the next line would be a part of it, and lost with it.
 */
export function openLines(file: string): string[] {
  try {
    const text = readFileSync(file, 'utf8');
    if (text !== '' && !text.endsWith('\n')) appendFileSync(file, '\n');
    return text.split('\n');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
