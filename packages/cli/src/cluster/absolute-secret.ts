import { resolve } from 'node:path';

/** Returns an address or a token for a process with another current folder: `@` and a path becomes an absolute path. */
export function absoluteSecret(text: string): string {
  return text.startsWith('@') ? `@${resolve(text.slice(1))}` : text;
}
