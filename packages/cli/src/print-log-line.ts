import type { LogLine } from '@goondan/runtime';
import { harmlessLines } from './harmless-text.ts';
import type { Terminal } from './terminal.ts';

/** What somebody should know. Why a turn failed, or that its answer is not whole, is a command's own last line. */
export function printLogLine({ level, message, event, agent, connection }: LogLine, terminal: Terminal): void {
  if ((level !== 'warn' && level !== 'error') || OWN_LINES.has(event ?? '')) return;
  const who = agent ?? connection;
  terminal.printError(`${level}: ${who === undefined ? '' : `${who}: `}${harmlessLines(message)}\n`);
}

const OWN_LINES: ReadonlySet<string> = new Set(['turn.failed', 'reply.truncated']);
