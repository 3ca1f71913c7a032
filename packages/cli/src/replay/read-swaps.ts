/** Reads the values of `--swap`, `--without` and `--also`. */
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';

/** Reads `Extension/x=./new.ts`. The option can be repeated. **Errors** — errors of the command line. */
export function addSwap(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = text.indexOf('=');
  const [name, file] = [extensionName(text.slice(0, at)), text.slice(at + 1)];
  if (at < 1 || name === '' || file === '')
    throw new InvalidArgumentError('It is not of the form Extension/name=file.');
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`Extension/${name} is replaced twice.`);
  return { ...before, [name]: resolve(file) };
}

export function addWithout(text: string, before: readonly string[] = []): string[] {
  const name = extensionName(text);
  if (name === '') throw new InvalidArgumentError('It names no extension.');
  return before.includes(name) ? [...before] : [...before, name];
}

/** Reads a folder of `--also`. An empty text would mean the current folder. **Errors** — errors of the command line. */
export function addFolder(text: string, before: readonly string[] = []): string[] {
  if (text === '') throw new InvalidArgumentError('It names no folder.');
  return [...before, resolve(text)];
}

function extensionName(text: string): string {
  return text.trim().replace(/^Extension\//, '');
}
