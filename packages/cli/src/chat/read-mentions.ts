/**
 * Files that a person names in a message of the chat: `@cat.png`, `@"my cat.png"`, `(@cat.png)`. The `@` is at the start of a
 * word, or after brackets and quotes at the start of a word. There, `@@` is a literal `@`; anywhere else, both are text.
 */
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { GoondanError, type InputPart } from '@goondan/types';
import { readFilePart } from '../read-files.ts';

const MENTION = /(?<=(?:^|\s)[([{"'“‘«]*)@(?:(@)|"([^"\n]+)"|([^\s@"]\S*))/g;
const UNCLOSED = /(?<=(?:^|\s)[([{"'“‘«]*)@"(?![^"\n]+")[^\n]*/;
/** Signs that end a sentence, a bracket or a quote, and do not belong to the name of a file. */
const PUNCTUATION = /[.,;:!?)\]}"'”’»]+$/;

/** A message without the marks of its files. */
export interface Mentions {
  readonly input: string;
  readonly paths: readonly string[];
}

/** **Errors** — `E_USAGE` if the quote of a name is not closed. */
export function findMentions(text: string): Mentions {
  const [unclosed] = UNCLOSED.exec(text) ?? [];
  if (unclosed !== undefined) {
    const suggestion = 'Write @"my cat.png", or write @@ for an @ that is not a file.';
    throw new GoondanError('E_USAGE', `The quote after @ is not closed: ${unclosed}`, { suggestion });
  }
  const paths: string[] = [];
  const input = text.replace(MENTION, (_, literal?: string, quoted?: string, plain?: string) => {
    if (literal !== undefined) return '@';
    const path = quoted ?? plain ?? '';
    paths.push(path);
    return path;
  });
  return { input, paths };
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
