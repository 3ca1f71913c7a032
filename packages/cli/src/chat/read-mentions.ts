/**
 * Files that a person names in a message of the chat: `@cat.png`, `@"my cat.png"`, `(@cat.png)`. The `@` is at the start of a
 * word, or after brackets and quotes at the start of a word. There, `@@` is a literal `@`; anywhere else, and between
 * backticks, both are text.
 */
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { GoondanError, type InputPart } from '@goondan/types';
import { readFilePart } from '../read-files.ts';

/** Text between backticks, which end with as many as they begin with, or a mention. */
const MARK = /(?<!`)(`+)(?!`)[^]*?(?<!`)\1(?!`)|(?<=(?:^|\s)[([{"'“‘«]*)@(?:(@)|"([^"\n]+)"|("[^\n]*)|([^\s@"]\S*))/g;
/** The beginning of a mention at the end of a text: with its quote, or without one. */
export const MENTION_START = /(?<=(?:^|\s)[([{"'“‘«]*)@(?:"([^"\n]*)|(?!@)([^\s"]*))$/;
/** Signs that end a sentence, a bracket or a quote, and do not belong to the name of a file. */
const PUNCTUATION = /[.,;:!?)\]}"'”’»]+$/;

/** A message without the marks of its files. */
export interface Mentions {
  readonly input: string;
  readonly paths: readonly string[];
}

/** **Errors** — `E_USAGE` if the quote of a name is not closed. */
export function findMentions(text: string): Mentions {
  const paths: string[] = [];
  const input = text.replace(MARK, (mark: string, ...groups: readonly (string | undefined)[]) => {
    const [ticks, literal, quoted, unclosed, plain = ''] = groups;
    if (ticks !== undefined) return mark;
    if (literal !== undefined) return '@';
    if (unclosed !== undefined) throw notClosed(mark);
    const path = quoted ?? plain;
    paths.push(path);
    return path;
  });
  return { input, paths };
}

function notClosed(mark: string): GoondanError {
  const suggestion = 'Write @"my cat.png", or write @@ for an @ that is not a file.';
  return new GoondanError('E_USAGE', `The quote after @ is not closed: ${mark}`, { suggestion });
}

/** Reads the files. `~/` in a path is the folder `home`. **Errors** — `E_USAGE`, which names the file and the escape; `E_FILE_SIZE`. */
export async function readMentions(
  paths: readonly string[],
  folder: string,
  home = homedir(),
): Promise<readonly InputPart[]> {
  const parts: InputPart[] = [];
  for (const path of paths) {
    const place = path.startsWith('~/') ? join(home, path.slice(2)) : path;
    parts.push(await readFilePart(await withoutPunctuation(place, folder), folder, ESCAPE));
  }
  return parts;
}

const ESCAPE = 'Check the path, or write @@ for an @ that is not a file.';

/** Returns the path as it is written if there is such a file, and otherwise without the signs at its end. */
async function withoutPunctuation(path: string, folder: string): Promise<string> {
  const bare = path.replace(PUNCTUATION, '');
  return bare === '' || (await exists(path, folder)) ? path : bare;
}

async function exists(path: string, folder: string): Promise<boolean> {
  return stat(resolve(folder, path)).then(
    () => true,
    () => false,
  );
}
