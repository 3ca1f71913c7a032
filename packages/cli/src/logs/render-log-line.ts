import type { LogLine } from '@goondan/runtime';
import { shortTurnId } from '@goondan/runtime/internal';
import { harmlessLines, harmlessText } from '../harmless-text.ts';
import { logText, stackIn } from '../log-text.ts';
import { showTime } from '../show-time.ts';

/** Formats a line for people, with its stack. The time is local at a terminal, and UTC in a pipe. */
export function renderLogLine(line: LogLine, isWatched: boolean): string {
  return `${showTime(line.time, { isWatched }, 'milliseconds')} ${textOfLine(line)}`;
}

/** Formats a line without its time. Code of a bundle wrote parts of it, so it is escaped, also for a pipe: `less` is one. */
export function textOfLine(line: LogLine): string {
  const { level, node, agent, instance, connection, extension, turnId } = line;
  const turn = turnId === undefined ? undefined : shortTurnId(turnId);
  const who = harmlessText(
    [node && `[${node}]`, agent ?? connection, instance, turn, extension].filter(Boolean).join(' '),
  );
  const stack = stackIn(line).map((frame) => `  ${harmlessText(frame)}\n`);
  return `${level} ${who === '' ? '' : `${who}: `}${harmlessLines(logText(line))}\n${stack.join('')}`;
}
