/**
 * Replaces secrets in every text that is written or shown. So secrets do not leave the process, not even in a
 * JSON-escaped, URL-encoded, base64 or hexadecimal form, or printed as part of an object.
 */
import type { JsonValue } from '@goondan/types';
import { isPlainObject } from '../json/copy-json.ts';
import { LONGEST_ESCAPE, readUnescaped } from './escape-reader.ts';
import { formsOfSecrets, type SecretForms } from './secret-forms.ts';

export interface Mask {
  (text: string): string;
  /** The length of the longest replaced text. Before you cut a text, mask this many characters more than you keep. */
  readonly longest?: number;
  /** Masks a text, and returns only the part that begins before an index of the unmasked text. */
  readonly before?: (text: string, index: number) => string;
}

export interface SecretMask extends Mask {
  readonly forms: SecretForms;
  readonly longest: number;
}

/** The text in place of a secret. */
export const MASKED = '***';

/** A mask that replaces nothing. */
export const noSecrets: SecretMask = Object.assign((text: string) => text, {
  forms: { plain: [], unescaped: [] },
  longest: 0,
});

export function maskSecrets(secrets: readonly string[]): SecretMask {
  const forms = formsOfSecrets(secrets);
  if (forms.plain.length === 0) return noSecrets;
  const mask = (text: string) => replaceRuns(text, findRuns(text, forms));
  const before = (text: string, index: number) => replaceRuns(text, findRuns(text, forms), index);
  const lengths = [
    ...forms.plain.map(({ length }) => length),
    ...forms.unescaped.map(({ length }) => length * LONGEST_ESCAPE),
  ];
  return Object.assign(mask, { forms, before, longest: Math.max(...lengths) });
}

/** A part of a text that is hidden as a whole: one occurrence, or several that overlap. */
interface Run {
  readonly start: number;
  end: number;
}

/** Returns the parts to hide, in order. Overlapping occurrences become one part. */
function findRuns(text: string, { plain, unescaped }: SecretForms): Run[] {
  const found = plain.flatMap((form) => occurrencesOf(form, text));
  if (text.includes('\\')) found.push(...findEscaped(text, unescaped));
  const runs: Run[] = [];
  for (const run of found.toSorted((a, b) => a.start - b.start)) addRun(runs, run);
  return runs;
}

/** Finds the occurrences that have escapes inside them. */
function findEscaped(text: string, forms: readonly string[]): Run[] {
  const { text: unescaped, starts, ends } = readUnescaped(text);
  return forms.flatMap((form) =>
    indexesOf(form, unescaped).flatMap((index) => {
      const run = { start: starts[index] ?? 0, end: ends[index + form.length - 1] ?? 0 };
      return hasEscape(run.start, run.end, form.length) ? [run] : [];
    }),
  );
}

/** Returns true if a part of a text is longer than the same part without escapes. */
export function hasEscape(start: number, end: number, unescapedLength: number): boolean {
  return end - start > unescapedLength;
}

/** Finds all occurrences of a form. Those that overlap become one part. */
function occurrencesOf(form: string, text: string): Run[] {
  const found: Run[] = [];
  for (const start of indexesOf(form, text)) addRun(found, { start, end: start + form.length });
  return found;
}

function indexesOf(form: string, text: string): number[] {
  const found: number[] = [];
  for (let start = text.indexOf(form); start !== -1; start = text.indexOf(form, start + 1)) found.push(start);
  return found;
}

/** Adds a run. It must not start before the last run, and is joined with it if the two overlap. */
function addRun(runs: Run[], run: Run): void {
  const last = runs.at(-1);
  if (last !== undefined && run.start < last.end) last.end = Math.max(last.end, run.end);
  else runs.push(run);
}

function replaceRuns(text: string, runs: readonly Run[], until = text.length): string {
  let shown = '';
  let from = 0;
  for (const { start, end } of runs) {
    if (start >= until) break;
    shown += text.slice(from, start) + MASKED;
    from = end;
  }
  return from < until ? shown + text.slice(from, until) : shown;
}

/** Masks every text inside a JSON value, including keys. A value without secrets is returned itself, not copied. */
export function maskJson(value: JsonValue, mask: Mask): JsonValue {
  if (mask === noSecrets) return value;
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) {
    const masked = value.map((item) => maskJson(item, mask));
    return masked.some((item, index) => item !== value[index]) ? masked : value;
  }
  if (!isPlainObject(value)) return value;
  let isChanged = false;
  const entries = Object.entries(value).map(([key, item]) => {
    const entry = [mask(key), maskJson(item, mask)] as const;
    isChanged ||= entry[0] !== key || entry[1] !== item;
    return entry;
  });
  return isChanged ? Object.fromEntries(entries) : value;
}
