/** Replaces a text in a file with another. The text to replace must occur exactly once, unless `all` is true. */
import { GoondanError } from '@goondan/types';
import { readWhole } from './read-whole.ts';
import { walk } from './walk.ts';
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

const severalTimes = 'Include more of the surrounding text, so that it occurs only once, or set `all`.';

function hintFor(text: string, old: string): string {
  if (text.includes(old.replaceAll(/\r?\n/g, '\r\n'))) return 'The lines of this file end with \\r\\n.';
  if (text.includes(old.replaceAll('\r\n', '\n'))) return 'The lines of this file end with \\n alone.';
  return 'Read the file, and copy the text exactly.';
}

function noMatch({ path }: EditAsk, problem: string, suggestion: string): GoondanError {
  return new GoondanError('E_FILE_EDIT', `${JSON.stringify(path)}: \`old\` ${problem}.`, { suggestion });
}
