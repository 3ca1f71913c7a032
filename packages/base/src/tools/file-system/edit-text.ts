/** Replaces a text in a file with another. The text to replace must occur exactly once, unless `all` is true. */
import { closeSync, readFileSync } from 'node:fs';
import { GoondanError } from '@goondan/types';
import { fileError, fromSystem } from './file-error.ts';
import { openRegular } from './open-regular.ts';
import { walk, type Walked } from './walk.ts';
import { checkWritable, replaceFile, type WriteBounds } from './write-text.ts';

export interface EditAsk {
  readonly path: string;
  readonly old: string;
  readonly new: string;
  /** If true, replaces every occurrence. */
  readonly all?: boolean;
}

export function editText(ask: EditAsk, bounds: WriteBounds) {
  checkWritable(ask.path, 0, bounds);
  using walked = walk(bounds.root, ask.path);
  const before = readWhole(walked, ask.path, bounds.fileLimit);
  const pieces = before.split(ask.old);
  const found = pieces.length - 1;
  if (found === 0) throw noMatch(ask, 'is not in it', hintFor(before, ask.old));
  if (found > 1 && ask.all !== true) throw noMatch(ask, `is in it ${found} times`, severalTimes);
  if (ask.old === ask.new) throw noMatch(ask, 'is the same as `new`', 'Give a different text as `new`.');
  const bytes = Buffer.from(pieces.join(ask.new));
  checkWritable(ask.path, bytes.length, bounds);
  replaceFile(walked, ask.path, bytes);
  return { path: walked.path, replaced: found, bytes: bytes.length };
}

function readWhole(walked: Walked, path: string, limit: number): string {
  const descriptor = openRegular(walked.found, path);
  try {
    const size = walked.found?.stats.size ?? 0;
    if (size > limit) throw fileError('E_FILE_LIMIT', path, `has ${size} bytes; at most ${limit} are allowed`);
    // The decoder throws for invalid bytes, because replacement characters would be written back to the file.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(descriptor));
  } catch (error) {
    if (error instanceof TypeError) throw fileError('E_FILE_TEXT', path, 'is not a text file', error);
    throw fromSystem(path, error);
  } finally {
    closeSync(descriptor);
  }
}

const severalTimes = 'Include more of the surrounding text, so that it occurs only once, or set `all`.';

function hintFor(text: string, old: string): string {
  if (text.includes(old.replaceAll(/\r?\n/g, '\r\n'))) return 'The lines of this file end with \\r\\n.';
  if (text.includes(old.replaceAll('\r\n', '\n'))) return 'The lines of this file end with \\n alone.';
  return 'Read the file, and copy the text exactly.';
}

function noMatch({ path }: EditAsk, problem: string, suggestion: string): GoondanError {
  return new GoondanError('E_FILE_EDIT', `${JSON.stringify(path)}: \`old\` ${problem}.`, { suggestion });
}
