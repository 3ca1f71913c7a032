/** Completes what a person types in the chat: a command, an agent after `/agent`, and a file after `@`. */
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { commandNames } from './read-command.ts';
import { MENTION_START } from './read-mentions.ts';

export interface Completion {
  /** Replaces the text before the cursor. */
  readonly before: string;
  /** What the person may have meant; empty if only one thing is possible. */
  readonly candidates: readonly string[];
}

const MOST_LISTED = 100;
const WORDS: readonly (readonly [pattern: RegExp, of: 'command' | 'agent'])[] = [
  [/^()(\/[A-Za-z]*)$/, 'command'],
  [/^(\/agent[ \t]+)(\S*)$/i, 'agent'],
];

/** `before`: the text before the cursor. Returns `undefined` at once if no word that could be completed ends there. */
export function completeInput(
  before: string,
  agents: readonly string[],
  folder: string,
  home = homedir(),
): Promise<Completion | undefined> | undefined {
  for (const [pattern, of] of WORDS) {
    const [, start = '', word] = pattern.exec(before) ?? [];
    if (word === undefined) continue;
    const names = (of === 'agent' ? agents : commandNames).map((name) => `${name} `);
    return Promise.resolve(complete(start, word, names));
  }
  const mention = MENTION_START.exec(before);
  return mention === null ? undefined : completeFile(before.slice(0, mention.index), mention[1] ?? mention[2] ?? '');
  async function completeFile(start: string, path: string): Promise<Completion | undefined> {
    const names = await listFiles(path, folder, home);
    const completion = complete('', path, names);
    if (completion === undefined) return undefined;
    const { before: found, candidates } = completion;
    // A file that is complete ends its quote.
    const isWhole = candidates.length === 0 && !found.endsWith('/');
    const isQuoted = mention?.[1] !== undefined || /\s/.test(found);
    const written = isQuoted ? `"${found}${isWhole ? '"' : ''}` : found;
    return { before: `${start}@${written}${isWhole ? ' ' : ''}`, candidates };
  }
}

/** Returns the files and folders of the folder of `path`. A name that cannot be typed in quotes is left out. */
async function listFiles(path: string, folder: string, home: string): Promise<string[]> {
  const above = path.slice(0, path.lastIndexOf('/') + 1);
  const place = above.startsWith('~/') ? join(home, above.slice(2)) : resolve(folder, above);
  const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
  const isHidden = path.slice(above.length).startsWith('.');
  return entries
    .filter(({ name }) => name.startsWith('.') === isHidden && !/["\p{Cc}]/u.test(name))
    .map((entry) => `${above}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .toSorted();
}

function complete(start: string, word: string, names: readonly string[]): Completion | undefined {
  const found = names.filter((name) => name.startsWith(word));
  const [first] = found;
  if (first === undefined) return undefined;
  const shown = found.length === 1 ? [] : found.slice(0, MOST_LISTED).map((name) => name.trimEnd());
  const more = found.length > MOST_LISTED ? [`… ${found.length - MOST_LISTED} more`] : [];
  return { before: start + found.reduce(commonStart), candidates: [...shown, ...more] };
}

function commonStart(one: string, other: string): string {
  const characters = Array.from(other);
  let end = 0;
  for (const character of one) {
    if (characters[end] !== character) break;
    end += 1;
  }
  return characters.slice(0, end).join('');
}
