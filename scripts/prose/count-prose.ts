// Counts, for each kind, the sentences of this repository that begin with What, Who, Whoever, Whose, Whom, Of, That,
// Those or Which. Such a sentence has to be read twice, because its subject comes last.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInverted, readSentences, type Sentence } from './read-sentences.ts';
import { readSource, type SourcePart } from './read-source.ts';

const repository = join(import.meta.dir, '../..');

export type ProseKind = 'docs' | 'errors' | 'help' | 'comments' | 'test titles';

export interface Prose {
  readonly kind: ProseKind;
  readonly path: string;
  readonly sentences: readonly Sentence[];
}

export interface ProseCount {
  readonly kind: ProseKind;
  readonly sentences: number;
  readonly inverted: number;
  /** The share of inverted sentences, in percent. */
  readonly share: number;
}

const documents = ['*.md', 'docs/**/*.md', 'examples/**/*.md', 'packages/*/{,demo/,templates/*/}README.md'];
const sources = [
  'packages/*/{src,bin}/**/*.{ts,tsx,mjs}',
  '{scripts,examples,test,bench}/**/*.{ts,tsx,mjs}',
  'packages/cli/{demo,templates}/**/*.ts',
];

export function readProse(): Prose[] {
  const pages = list(documents).map((path): Prose => ({ kind: 'docs', path, sentences: readSentences(read(path)) }));
  return [...pages, ...list(sources).flatMap(readProseOfSource)];
}

export function countProse(prose: readonly Prose[]): ProseCount[] {
  return Map.groupBy(prose, ({ kind }) => kind)
    .entries()
    .map(([kind, ofKind]) => {
      const sentences = ofKind.flatMap((file) => file.sentences);
      const inverted = sentences.filter(isInverted).length;
      return { kind, sentences: sentences.length, inverted, share: (100 * inverted) / Math.max(1, sentences.length) };
    })
    .toArray();
}

/** Lists lines of the form `path:line: sentence`, files with the most such sentences first. */
export function listInverted(prose: readonly Prose[], kinds: readonly ProseKind[]): string[] {
  return prose
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ path, sentences }) => sentences.filter(isInverted).map(({ line, text }) => `${path}:${line}: ${text}`))
    .toSorted((one, other) => other.length - one.length)
    .flat();
}

function readProseOfSource(path: string): Prose[] {
  const isTest = /\.test\.tsx?$/.test(path);
  const isProduct = path.startsWith('packages/') && !isTest && !/\/(?:testing|simulation|wire)\//.test(path);
  const parts = readSource(read(path));
  const sentencesOf = (taken: readonly SourcePart[]) => taken.flatMap(({ text, line }) => readSentences(text, line));
  const strings = parts.filter(({ kind }) => kind === 'string');
  const texts: Prose = {
    kind: /^packages\/(?:cli|studio)\//.test(path) ? 'help' : 'errors',
    path,
    sentences: isProduct ? sentencesOf(strings.filter(({ text }) => /^[\p{L}`].*\s/su.test(text))) : [],
  };
  const titles = strings
    .filter(({ before }) => isTest && /\b(?:test|it|describe)(?:\.\w+)*\($|\)\($/.test(before))
    .map((part) => ({ ...part, text: part.text.replace(/^(?:[A-Z]+-\d+[a-z]?,? )+/, '') }));
  return [
    { kind: 'comments', path, sentences: sentencesOf(parts.filter(({ kind }) => kind === 'comment')) },
    { kind: 'test titles', path, sentences: sentencesOf(titles) },
    texts,
  ];
}

function list(patterns: readonly string[]): string[] {
  const paths = patterns.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(repository)]);
  return [...new Set(paths)].filter((path) => !/(?:^|\/)(?:node_modules|dist|seeds)\//.test(path)).toSorted();
}

function read(path: string): string {
  return readFileSync(join(repository, path), 'utf8');
}
