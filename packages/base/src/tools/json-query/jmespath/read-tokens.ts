/** Splits the text of a query into tokens. */
import type { JsonValue } from '@goondan/types';
import { queryError } from './query-error.ts';

export interface Token {
  readonly type: TokenType;
  /** The name, for the types `name` and `quoted name`; otherwise the text in the query. */
  readonly text: string;
  /** The value of a number or a literal. */
  readonly value?: JsonValue;
  readonly at: number;
}

/** The tokens that are the same in every query. `[?` and `[]` are one token each. */
const signs = [
  ...['[?', '[]', '||', '&&', '==', '!=', '<=', '>='],
  ...['.', '*', '[', ']', '{', '}', '(', ')', ',', ':', '|', '&', '<', '>', '!', '@'],
] as const;

export type TokenType = (typeof signs)[number] | 'name' | 'quoted name' | 'number' | 'literal' | 'end';

const blank = /[ \t\r\n]*/y;
const name = /[A-Za-z_][A-Za-z0-9_]*/y;
const number = /-?[0-9]+/y;

export function readTokens(query: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = match(blank, query, 0).length;
  while (at < query.length) {
    const [token, length] = readToken(query, at);
    tokens.push(token);
    at += length;
    at += match(blank, query, at).length;
  }
  return [...tokens, { type: 'end', text: 'the end of the query', at }];
}

function readToken(query: string, at: number): readonly [Token, length: number] {
  const word = match(name, query, at);
  if (word !== '') return [{ type: 'name', text: word, at }, word.length];
  const digits = match(number, query, at);
  if (digits !== '') return [{ type: 'number', text: digits, value: Number(digits), at }, digits.length];
  const first = query.charAt(at);
  if (first === '"' || first === "'" || first === '`') return readQuoted(query, at, first);
  const sign = signs.find((each) => query.startsWith(each, at));
  if (sign !== undefined) return [{ type: sign, text: sign, at }, sign.length];
  throw queryError(strange(first), at);
}

function strange(first: string): string {
  if (first === '$') return 'A query is JMESPath, not JSONPath: write a.b instead of $.a.b, and @ for the whole value';
  if (first === '=') return 'Values are compared with ==';
  return `${JSON.stringify(first)} has no meaning in JMESPath`;
}

function readQuoted(query: string, at: number, quote: '"' | "'" | '`'): readonly [Token, length: number] {
  let end = at + 1;
  while (end < query.length && query.charAt(end) !== quote) end += query.charAt(end) === '\\' ? 2 : 1;
  if (end >= query.length) throw queryError(`${quote} is not closed`, at);
  const inner = query.slice(at + 1, end);
  const text = query.slice(at, end + 1);
  if (quote === "'") return [{ type: 'literal', text, value: inner.replaceAll("\\'", "'"), at }, text.length];
  if (quote === '"') return [{ type: 'quoted name', text: parseName(text, at), at }, text.length];
  const value = parse(inner.replaceAll('\\`', '`'), at, 'JSON in backticks');
  return [{ type: 'literal', text, value, at }, text.length];
}

function parse(json: string, at: number, what: string): JsonValue {
  try {
    // The cast is safe: JSON.parse returns nothing else.
    return JSON.parse(json) as JsonValue;
  } catch {
    throw queryError(`${what} must be valid JSON; write text as 'text'`, at);
  }
}

function parseName(json: string, at: number): string {
  // The cast is safe: a JSON text that begins with a quote is a string.
  return parse(json, at, 'a name in quotes') as string;
}

function match(pattern: RegExp, query: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(query)?.[0] ?? '';
}
