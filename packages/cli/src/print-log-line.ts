import type { LogLine } from '@goondan/runtime';
import type { InstanceChoice } from '@goondan/runtime/control';
import { harmlessLines } from './harmless-text.ts';
import { logText } from './log-text.ts';
import type { Terminal } from './terminal.ts';

/**
 * Tells whether the command itself reports the content of this line, so that it is not printed twice. `entryAgent` is
 * the agent that gets the input when the command names no agent.
 */
export type IsReported = (line: LogLine, entryAgent?: string) => boolean;

/** Prints a warning or an error from the log. */
export function printLogLine(line: LogLine, terminal: Terminal, isReported: IsReported = isAboutTurn): void {
  const { level, agent, connection, extension } = line;
  if ((level !== 'warn' && level !== 'error') || isReported(line)) return;
  // Names the extension only for errors thrown by the bundle's code; lines that an extension logs stay unchanged.
  const who = [agent ?? connection, line.place === undefined ? undefined : extension].filter(Boolean).join(' ');
  terminal.printError(`${level}: ${who === '' ? '' : `${who}: `}${harmlessLines(logText(line))}\n`);
}

/**
 * Tells whether a line reports a failed turn or a truncated answer, which the command itself reports in its last line.
 */
export function isAboutTurn({ event }: LogLine): boolean {
  return event === 'turn.failed' || event === 'reply.truncated';
}

/** Tells whether a line explains why this instance gave no answer, which the command itself reports. */
export function isAboutSilence({ event, agent, instance }: LogLine, asked: InstanceChoice): boolean {
  if (event !== 'start.failed' && event !== 'turn.lost') return false;
  return agent === asked.agent && instance === asked.instanceKey;
}
