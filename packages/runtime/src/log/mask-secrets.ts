/**
 * Replaces secrets in every text that is written or shown. So secrets do not leave the process, not even in a
 * JSON-escaped or URL-encoded form, or printed as part of an object.
 */
import type { JsonValue } from '@goondan/types';
import { isPlainObject } from '../json/copy-json.ts';

export interface Mask {
  (text: string): string;
  /** The length of the longest replaced text. Before you cut a text, mask this many characters more than you keep. */
  readonly longest?: number;
}

export interface SecretMask extends Mask {
  /** All texts that are replaced: the secrets, in each form in which they may be written. */
  readonly forms: readonly string[];
  readonly longest: number;
}

/** The text in place of a secret. */
export const MASKED = '***';
/** Shorter values are not treated as secrets, because replacing them would damage ordinary text. */
export const SHORTEST_SECRET = 8;

/** A mask that replaces nothing. */
export const noSecrets: SecretMask = Object.assign((text: string) => text, { forms: [], longest: 0 });

export function maskSecrets(secrets: readonly string[]): SecretMask {
  // A text of several lines that is printed as part of an object appears line by line, so each line is masked.
  const parts = secrets.flatMap((secret) => [secret, ...secret.split(/\r?\n/)]);
  const forms = [...new Set(parts.filter((part) => part.length >= SHORTEST_SECRET).flatMap(formsOf))];
  if (forms.length === 0) return noSecrets;
  const mask = (text: string) => replaceRuns(text, findRuns(text, forms));
  return Object.assign(mask, { forms, longest: Math.max(...forms.map(({ length }) => length)) });
}

/** A part of a text that is hidden as a whole: one occurrence, or several that overlap. */
interface Run {
  readonly start: number;
  end: number;
}

/** Returns the parts to hide, in order. Overlapping occurrences become one part. */
function findRuns(text: string, forms: readonly string[]): Run[] {
  const found = forms.flatMap((form) => occurrencesOf(form, text)).toSorted((a, b) => a.start - b.start);
  const runs: Run[] = [];
  for (const run of found) addRun(runs, run);
  return runs;
}

/** Finds all occurrences of a form, including those that overlap. */
function occurrencesOf(form: string, text: string): Run[] {
  const found: Run[] = [];
  for (let start = text.indexOf(form); start !== -1; start = text.indexOf(form, start + 1)) {
    addRun(found, { start, end: start + form.length });
  }
  return found;
}

/** Adds a run. It must not start before the last run, and is joined with it if the two overlap. */
function addRun(runs: Run[], run: Run): void {
  const last = runs.at(-1);
  if (last !== undefined && run.start < last.end) last.end = Math.max(last.end, run.end);
  else runs.push(run);
}

function replaceRuns(text: string, runs: readonly Run[]): string {
  if (runs.length === 0) return text;
  let shown = '';
  let from = 0;
  for (const { start, end } of runs) {
    shown += text.slice(from, start) + MASKED;
    from = end;
  }
  return shown + text.slice(from);
}

/** Returns the forms in which a secret may appear in written text. */
function formsOf(secret: string): string[] {
  // Half of a surrogate pair cannot be URL-encoded; it becomes the replacement character.
  const encodable = secret.toWellFormed();
  return [
    // The secret itself, escaped once and escaped twice, because JSON is often part of printed text or of other JSON.
    ...escape(secret).flatMap(escape),
    encodeURIComponent(encodable),
    new URLSearchParams([['', encodable]]).toString().slice(1),
  ];
}

function escape(text: string): string[] {
  return [text, JSON.stringify(text).slice(1, -1), process.getBuiltinModule('node:util').inspect(text).slice(1, -1)];
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
