import type { Terminal } from './terminal.ts';

/** Prints one value as JSON. It is the only text on standard output. */
export function printJson(value: unknown, terminal: Terminal): void {
  terminal.print(`${JSON.stringify(value, undefined, 2)}\n`);
}
