import type { LogLine } from '@goondan/runtime';
import type { InstanceChoice } from '@goondan/runtime/control';
import { harmlessLines } from './harmless-text.ts';
import { logText } from './log-text.ts';
import type { Terminal } from './terminal.ts';

/** Whether a command itself reports the content of this line. */
export type IsReported = (line: LogLine) => boolean;

/** Prints a warning or an error of the log. */
export function printLogLine(line: LogLine, terminal: Terminal, isReported: IsReported = isAboutTurn): void {
  const { level, agent, connection, extension } = line;
  if ((level !== 'warn' && level !== 'error') || isReported(line)) return;
  // A line about thrown code names the extension; lines that an extension logs stay unchanged.
  const who = [agent ?? connection, line.place === undefined ? undefined : extension].filter(Boolean).join(' ');
  terminal.printError(`${level}: ${who === '' ? '' : `${who}: `}${harmlessLines(logText(line))}\n`);
}

/** Whether a line is about a failed turn or a truncated answer, which is a command's own last line. */
export function isAboutTurn({ event }: LogLine): boolean {
  return event === 'turn.failed' || event === 'reply.truncated';
}

/** Whether a line says why this instance gave no answer; the command tells the person the same. */
export function isAboutSilence({ event, agent, instance }: LogLine, asked: InstanceChoice): boolean {
  if (event !== 'start.failed' && event !== 'turn.lost') return false;
  return agent === asked.agent && instance === asked.instanceKey;
}
