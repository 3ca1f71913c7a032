/** The arguments of a tool call as a text that a person edits. Pure. */
import type { JsonObject, JsonValue } from '@goondan/types';
import { unseen } from './show-text.ts';

/**
 * Writes JSON in several lines. Characters that nobody sees are written as escapes, so that the person edits what they
 * read, and `readJson` returns the same value.
 */
export function writeJson(value: JsonValue): string {
  // The line feeds and spaces of the format itself stay: in a JSON text, they are never part of a value.
  return JSON.stringify(value, null, 2)
    .split('\n')
    .map((line) => line.replaceAll(unseen, escapeUnits))
    .join('\n');
}

function escapeUnits(character: string): string {
  return Array.from({ length: character.length }, (_, at) => escapeUnit(character.charCodeAt(at))).join('');
}

function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}

/** Returns the object, or its problem as a sentence with the line and the column. */
export function readJsonObject(text: string): { readonly value: JsonObject } | { readonly problem: string } {
  try {
    // Safe: the text is JSON.
    const value = JSON.parse(text) as JsonValue;
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? { value } : { problem: 'This is not a JSON object: it must begin with { and end with }.' };
  } catch {
    return { problem: describeMistake(text) };
  }
}

/** Names the place where the text stops being JSON. The message of the engine has no place. */
function describeMistake(text: string): string {
  const at = findMistake(text);
  const before = text.slice(0, at).split('\n');
  const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
  const rest = text.slice(at).split('\n', 1)[0]?.trim() ?? '';
  const found =
    at >= text.trimEnd().length ? 'the text ends too early' : `unexpected ${JSON.stringify(rest.slice(0, 20))}`;
  return `This is not JSON: ${found}, at ${place}.`;
}

const token =
  /[ \t\n\r]*(?:([{}[\],:])|("(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.]))/;

/** Reads token after token, with the open brackets on a stack, and returns the offset of the first that does not fit. */
function findMistake(text: string): number {
  const open: string[] = [];
  let wanted: 'value' | 'name' | 'colon' | 'next' | 'end' = 'value';
  // True after `{` and `[`, which may be closed at once.
  let mayClose = false;
  const tokens = new RegExp(token, 'y');
  for (;;) {
    const start = skipSpace(text, tokens.lastIndex);
    const [, sign, string, word] = tokens.exec(text) ?? [];
    if (sign === undefined && string === undefined && word === undefined) return start;
    const closes = open.at(-1);
    if (sign === closes && closes !== undefined && (wanted === 'next' || mayClose)) {
      open.pop();
      wanted = open.length === 0 ? 'end' : 'next';
    } else if (wanted === 'value' && (sign === '{' || sign === '[')) {
      open.push(sign === '{' ? '}' : ']');
      wanted = sign === '{' ? 'name' : 'value';
      mayClose = true;
      continue;
    } else if (wanted === 'value' && sign === undefined) wanted = open.length === 0 ? 'end' : 'next';
    else if (wanted === 'name' && string !== undefined) wanted = 'colon';
    else if (wanted === 'colon' && sign === ':') wanted = 'value';
    else if (wanted === 'next' && sign === ',') wanted = closes === '}' ? 'name' : 'value';
    else return start;
    mayClose = false;
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at += 1;
  return at;
}
