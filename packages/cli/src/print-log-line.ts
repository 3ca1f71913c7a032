import type { LogLine } from '@goondan/runtime';
import { harmlessLines } from './harmless-text.ts';
import { logText } from './log-text.ts';
import type { Terminal } from './terminal.ts';

/** Whether a command reports the failure or the truncated answer itself. */
export type IsReported = (line: LogLine) => boolean;

/** What somebody should know. */
export function printLogLine(line: LogLine, terminal: Terminal, isReported: IsReported = () => true): void {
  const { level, event, agent, connection, extension } = line;
  if ((level !== 'warn' && level !== 'error') || (OWN_LINES.has(event ?? '') && isReported(line))) return;
  // Of what code threw it says whose it is; what an extension logs by itself is as it was written.
  const who = [agent ?? connection, line.place === undefined ? undefined : extension].filter(Boolean).join(' ');
  terminal.printError(`${level}: ${who === '' ? '' : `${who}: `}${harmlessLines(logText(line))}\n`);
}

const OWN_LINES: ReadonlySet<string> = new Set(['turn.failed', 'reply.truncated']);
