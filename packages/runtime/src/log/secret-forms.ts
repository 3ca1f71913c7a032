/**
 * The texts by which a secret is recognised. docs/bundles.md lists the forms, and a test compares the list with the
 * code.
 *
 * 1. A form has at least SHORTEST_SECRET characters.
 * 2. The characters of all forms together are at most a fixed multiple of the characters of the secrets, and the forms
 *    that a secret has as a whole are not repeated for its lines.
 */
import { dropEscapes } from './escape-reader.ts';

/** Shorter values are not treated as secrets, because replacing them would damage ordinary text. */
export const SHORTEST_SECRET = 8;

/** The number of characters of secrets, the shortest secrets first, that are recognised in every form. */
export const MOST_CHARACTERS_IN_EVERY_FORM = 16_384;

export function formsOfSecrets(secrets: readonly string[]): string[] {
  const forms = new Set<string>();
  let characters = 0;
  for (const secret of secrets.toSorted((a, b) => a.length - b.length)) {
    characters += secret.length;
    const more = characters <= MOST_CHARACTERS_IN_EVERY_FORM ? rareForms(secret) : [];
    for (const form of [...linesOf(secret).flatMap(usualForms), ...more]) {
      if (form.length >= SHORTEST_SECRET) forms.add(form);
    }
  }
  return [...forms];
}

/** Returns the secret and its lines: a text of several lines that is printed as part of an object appears line by line. */
function linesOf(secret: string): string[] {
  return [secret, ...secret.split(/\r?\n/)].filter(({ length }) => length >= SHORTEST_SECRET);
}

/** Returns the text of the number that is written in a text; undefined if there is none. */
function numberIn(text: string): string | undefined {
  const number = Number(text);
  return text.trim() === '' || !Number.isFinite(number) ? undefined : String(number);
}

/** Returns true if a JSON number may show one of the secrets. */
export function haveNumbers(secrets: readonly string[]): boolean {
  return secrets.flatMap(linesOf).some((line) => (numberIn(line)?.length ?? 0) >= SHORTEST_SECRET);
}

function usualForms(part: string): string[] {
  // Half of a surrogate pair cannot be encoded; it becomes the replacement character.
  const encodable = part.toWellFormed();
  return [
    // The secret itself, escaped once and escaped twice, because JSON is often part of printed text or of other JSON.
    ...escape(part).flatMap(escape),
    encodeURIComponent(encodable),
    new URLSearchParams([['', encodable]]).toString().slice(1),
    numberIn(part) ?? part,
  ];
}

function rareForms(secret: string): string[] {
  const normal = ['NFC', 'NFD'].map((name) => secret.normalize(name)).filter((text) => text !== secret);
  return [
    ...normal.flatMap(linesOf).flatMap(usualForms),
    ...[secret, ...normal].flatMap(linesOf).flatMap(escape).map(dropEscapes),
    ...[secret, ...normal].flatMap((text) => binaryForms(withoutEnds(text))),
  ];
}

/** Returns the text, and the text as JSON and as printed by `console.log`, where these differ. */
function escape(text: string): string[] {
  if (/^[ !#-&(-[\]-~]*$/.test(text)) return [text];
  return [text, JSON.stringify(text).slice(1, -1), process.getBuiltinModule('node:util').inspect(text).slice(1, -1)];
}

/** Removes white space at the ends, unless the rest is too short for a secret. */
function withoutEnds(text: string): string {
  const trimmed = text.trim();
  return trimmed === '' || trimmed.length >= SHORTEST_SECRET ? trimmed : text;
}

function binaryForms(secret: string): string[] {
  // Base64 of a shorter text would be found in ordinary words.
  if (secret.length < SHORTEST_SECRET) return [];
  const bytes = Buffer.from(secret.toWellFormed());
  const hex = bytes.toString('hex');
  return [hex, hex.toUpperCase(), ...base64Forms(bytes)];
}

/**
 * Returns the base64 characters that depend on the secret alone. The secret may be part of a longer text, such as
 * `user:password`, so there are three forms, by the number of bytes before the secret. Each is also made for a secret
 * at the end of the text, and with the alphabet for URLs.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replaceAll('=', '');
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor(((before + bytes.length) * 8) / 6);
    return [text.slice(first, last), text.slice(first)].flatMap((form) => [
      form,
      form.replaceAll('+', '-').replaceAll('/', '_'),
    ]);
  });
}
