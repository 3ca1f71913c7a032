/**
 * The texts by which a secret is recognised. docs/bundles.md lists the forms, and a test compares the list with the
 * code.
 */
import { readUnescaped } from './escape-reader.ts';

/** Shorter values are not treated as secrets, because replacing them would damage ordinary text. */
export const SHORTEST_SECRET = 8;

export interface SecretForms {
  /** The texts to find in a text as it is. */
  readonly plain: readonly string[];
  /** The texts to find in a text without its escapes, see `readUnescaped`. */
  readonly unescaped: readonly string[];
}

export function formsOfSecrets(secrets: readonly string[]): SecretForms {
  // A text of several lines that is printed as part of an object appears line by line, so each line is masked.
  const parts = secrets.flatMap((secret) => [secret, ...secret.split(/\r?\n/)]);
  const written = parts
    .filter((part) => part.length >= SHORTEST_SECRET)
    .flatMap((part) => [part, part.normalize('NFC'), part.normalize('NFD')]);
  const texts = [...new Set(written)];
  const unescaped = texts.flatMap(escape).map((form) => readUnescaped(form).text);
  return {
    plain: [...new Set(texts.flatMap(formsOf))],
    unescaped: [...new Set(unescaped)].filter(({ length }) => length >= SHORTEST_SECRET),
  };
}

function formsOf(secret: string): string[] {
  // Half of a surrogate pair cannot be encoded; it becomes the replacement character.
  const encodable = secret.toWellFormed();
  const bytes = Buffer.from(encodable);
  const hex = bytes.toString('hex');
  return [
    // The secret itself, escaped once and escaped twice, because JSON is often part of printed text or of other JSON.
    ...escape(secret).flatMap(escape),
    encodeURIComponent(encodable),
    new URLSearchParams([['', encodable]]).toString().slice(1),
    hex,
    hex.toUpperCase(),
    ...base64Forms(bytes),
  ];
}

function escape(text: string): string[] {
  return [text, JSON.stringify(text).slice(1, -1), process.getBuiltinModule('node:util').inspect(text).slice(1, -1)];
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
