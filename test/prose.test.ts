// Checks that sentences begin with their subject: see CONTRIBUTING.md, "Plain English".
import { describe, expect, test } from 'bun:test';
import { countProse, listInverted, readProse, type ProseKind } from '../scripts/prose/count-prose.ts';
import { isInverted, readSentences } from '../scripts/prose/read-sentences.ts';
import { readSource } from '../scripts/prose/read-source.ts';

/** The kinds for which the limit is checked. For other kinds, the share is only printed. */
const finished: readonly ProseKind[] = ['docs', 'errors', 'help', 'comments', 'test titles'];
const percentAllowed = 2;
const shown = 40;

describe('the prose of the repository', () => {
  const prose = readProse();
  const counts = countProse(prose);

  test.each(counts)('$kind: $inverted of $sentences sentences begin with a relative word', ({ kind, ...count }) => {
    expect(count.sentences).toBeGreaterThan(100);
    console.log(`${kind}: ${count.inverted} of ${count.sentences} sentences, ${count.share.toFixed(2)} %`);
    if (!finished.includes(kind) || count.share <= percentAllowed) return;
    const worst = listInverted(prose, [kind]).slice(0, shown);
    throw new Error(
      `At most ${percentAllowed} % may begin with a relative word. The worst files:\n${worst.join('\n')}`,
    );
  });

  test('every kind is counted', () => {
    expect(counts.map(({ kind }) => kind).toSorted()).toEqual(['comments', 'docs', 'errors', 'help', 'test titles']);
  });
});

describe('the reading of sentences', () => {
  const read = (text: string) => readSentences(text).map((sentence) => sentence.text);

  test('separates headings, list items and paragraphs', () => {
    expect(
      read('# One heading of five words\nText on two\nlines of a page.\n\n- a list of two items\n- is two\n'),
    ).toEqual(['One heading of five words', 'Text on two lines of a page.', 'a list of two items']);
  });

  test('leaves out code, tables and sentences of three words', () => {
    expect(
      read('```sh\nno words of a program\n```\n\n| a table of words | no |\n\nThree words only. Here are four words.'),
    ).toEqual(['Here are four words.']);
  });

  test('sees a span of code as one word and a link as its text', () => {
    expect(read('Use `gdn run` with [the guide](a.md). `gdn` **starts** a swarm.')).toEqual([
      'Use `x` with the guide.',
      '`x` starts a swarm.',
    ]);
  });

  test.each([
    ['What it does is said.', true],
    ['**Whoever** asks gets it.', true],
    ['of these, all when absent', true],
    ['What does it do?', false],
    ['Whatever you say is kept.', false],
    ['An agent asks another one.', false],
  ])('%j begins with a relative word: %j', (text, expected) => {
    expect(isInverted({ line: 1, text })).toBe(expected);
  });
});

describe('the reading of sources', () => {
  const read = (text: string) => readSource(text).map(({ kind, text: words, line }) => `${line} ${kind}: ${words}`);

  test('finds comments, and joins the lines of one', () => {
    expect(read('// one\n// comment\nconst a = 1; /** two */\n')).toEqual([
      '1 comment: one\ncomment',
      '3 comment: two',
    ]);
  });

  test('finds strings, and joins those that a plus joins', () => {
    expect(read("say('one ' +\n  'text', `${a} is ${b.map(() => `no`)}`);")).toEqual([
      '1 string: one text',
      '2 string: x is x',
    ]);
  });

  test('does not mistake a string or a regular expression for a comment', () => {
    expect(read("const a = 'http://here'; const b = /['\"]\\/\\//.test(c) ? 4 / 2 / 1 : 0; // end")).toEqual([
      '1 string: http://here',
      '1 comment: end',
    ]);
  });
});
