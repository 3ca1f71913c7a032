import type { LogLine } from '@goondan/runtime';
import { shortTurnId } from '@goondan/runtime/internal';
import { harmlessText } from '../harmless-text.ts';
import { logText, stackIn } from '../log-text.ts';
import { showTime } from '../show-time.ts';

/** Formats a line for people, with its stack. The time is local at a terminal, and UTC in a pipe. */
export function renderLogLine(line: LogLine, isWatched: boolean): string {
  return `${showTime(line.time, { isWatched }, 'milliseconds')} ${textOfLine(line)}`;
}

/** Formats a line without its time. */
export function textOfLine(line: LogLine): string {
  const { level, agent, instance, connection, extension, turnId } = line;
  const turn = turnId === undefined ? undefined : shortTurnId(turnId);
  const who = harmlessText([agent ?? connection, instance, turn, extension].filter(Boolean).join(' '));
  const stack = stackIn(line).map((frame) => `  ${frame}\n`);
  return `${level} ${who === '' ? '' : `${who}: `}${logText(line)}\n${stack.join('')}`;
}
