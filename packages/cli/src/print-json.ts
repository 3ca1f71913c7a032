import type { Terminal } from './terminal.ts';

/** Prints one value for programs; standard output then holds nothing else. */
export function printJson(value: unknown, terminal: Terminal): void {
  terminal.print(`${JSON.stringify(value, undefined, 2)}\n`);
}
