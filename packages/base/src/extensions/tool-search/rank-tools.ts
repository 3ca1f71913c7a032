/** Finds the tools that match some words best, by the words of their names and descriptions; rare words count more. */
import type { ToolCatalogItem } from '@goondan/types';

/** A word of the name says more than one of the description. */
const NAME_WEIGHT = 3;

/** Returns the best first, without tools that do not match. Equal ones keep the catalog's order. */
export function rankTools(catalog: readonly ToolCatalogItem[], query: string): ToolCatalogItem[] {
  const wanted = [...new Set(wordsOf(query))];
  const entries = catalog.map((tool) => ({ tool, name: wordsOf(tool.name), text: wordsOf(tool.description) }));
  const weights = wanted.map((word) => {
    const count = entries.filter(({ name, text }) => countFits(word, name) + countFits(word, text) > 0).length;
    return Math.log(1 + entries.length / (1 + count));
  });
  return entries
    .map(({ tool, name, text }) => {
      const fits = wanted.map(
        (word) => NAME_WEIGHT * Math.min(1, countFits(word, name)) + Math.min(2, countFits(word, text)),
      );
      return { tool, score: fits.reduce((sum, fit, index) => sum + fit * (weights[index] ?? 0), 0) };
    })
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .map(({ tool }) => tool);
}

/** `readFile` and `read_file` both become `read` and `file`. Words that say nothing about a tool are left out. */
function wordsOf(text: string): string[] {
  return text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !smallWords.has(word));
}

const smallWords = new Set(
  'a an and are as at be by can do for from how i in is it me my of on or some that the there this to what which with you'.split(
    ' ',
  ),
);

function countFits(word: string, words: readonly string[]): number {
  return words.filter((each) => each === word || begins(each, word) || begins(word, each)).length;
}

/** `file` matches `files`. Two English letters are too short for that; in other scripts they can be a word. */
function begins(long: string, short: string): boolean {
  const isWord = short.length > 2 || !/^[a-z0-9]+$/.test(short);
  return isWord && long.startsWith(short);
}
