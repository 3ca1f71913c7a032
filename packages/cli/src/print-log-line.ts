import type { LogLine } from '@goondan/runtime';
import type { InstanceChoice } from '@goondan/runtime/control';
import { namesExtension } from './error-line.ts';
import { wrapMessage } from './fit-width.ts';
import { harmlessLines, harmlessText } from './harmless-text.ts';
import { logText } from './log-text.ts';
import type { Terminal } from './terminal.ts';

/**
 * Tells whether the command itself reports the content of this line, so that it is not printed twice. `entryAgent` is
 * the agent that gets the input when the command names no agent.
 */
export type IsReported = (line: LogLine, entryAgent?: string) => boolean;

/** Prints a warning or an error from the log. */
export function printLogLine(line: LogLine, terminal: Terminal, isReported: IsReported = isAboutTurn): void {
  const { level } = line;
  if ((level !== 'warn' && level !== 'error') || isReported(line)) return;
  const who = harmlessText([instanceIn(line), extensionIn(line)].filter(Boolean).join(' '));
  const text = `${level}: ${who === '' ? '' : `${who}: `}${harmlessLines(logText(line))}`;
  terminal.printError(`${wrapMessage(text, terminal.errorColumns)}\n`);
}

function instanceIn({ agent, instance, connection }: LogLine): string | undefined {
  const isDefault = instance === undefined || instance === 'default';
  return agent === undefined || isDefault ? (agent ?? connection) : `${agent} (${instance})`;
}

/**
 * Returns the extension to name: its code threw, or the runtime reports something about it and the message does not
 * name it. Lines that an extension logs itself have no `event` and stay unchanged.
 */
function extensionIn({ place, event, extension, message }: LogLine): string | undefined {
  if (extension === undefined || place !== undefined) return extension;
  return event === undefined || namesExtension(message, extension) ? undefined : extension;
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
