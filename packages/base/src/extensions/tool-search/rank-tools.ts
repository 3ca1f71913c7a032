/** Ranks tools by how well their names and descriptions match the words of a query; rare words count more. */
import type { ToolCatalogItem } from '@goondan/types';

/** The weight of a match in the name. A match in the description has the weight 1. */
const NAME_WEIGHT = 3;

/** Returns the matching tools, best first. Tools with the same score keep the catalog's order. */
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

/**
 * Splits a text into words: both `readFile` and `read_file` become `read` and `file`. Leaves out words that say nothing
 * about a tool.
 */
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

/**
 * Tells whether `long` begins with `short`, so that `file` matches `files`. A prefix of two ASCII letters is too short
 * to count; in other scripts two characters can be a word.
 */
function begins(long: string, short: string): boolean {
  const isWord = short.length > 2 || !/^[a-z0-9]+$/.test(short);
  return isWord && long.startsWith(short);
}
