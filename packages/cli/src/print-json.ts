import type { Terminal } from './terminal.ts';

/** One value, for programs; nothing else is on standard output then. */
export function printJson(value: unknown, terminal: Terminal): void {
  terminal.print(`${JSON.stringify(value, undefined, 2)}\n`);
}
