/** Log lines as the lines of a file, and back. */
import type { LogLine } from '../../ports/log-line.ts';

/** A longer one loses its data and the end of its message: a log is for reading. */
const LONGEST_LINE = 64 * 1024;
const LONGEST_MESSAGE = 16 * 1024;

/** `undefined` when it cannot be written as JSON, or is too long even without what makes lines long. */
export function encodeLine(line: LogLine): string | undefined {
  try {
    const text = `${JSON.stringify(line)}\n`;
    if (text.length <= LONGEST_LINE) return text;
    const { data: _, ...rest } = line;
    const cut = { ...rest, message: line.message.slice(0, LONGEST_MESSAGE), data: { cut: text.length } };
    const short = `${JSON.stringify(cut)}\n`;
    return short.length <= LONGEST_LINE ? short : undefined;
  } catch {
    return undefined;
  }
}

/** What stands in the place of lines that were dropped. */
export function droppedText(lines: number, now: Date): string {
  const line: LogLine = {
    time: now.toISOString(),
    level: 'warn',
    message: `${lines} log lines were dropped: they came too fast, or the disk failed`,
    agent: '',
    instance: '',
    event: 'log.dropped',
    data: { lines },
  };
  return `${JSON.stringify(line)}\n`;
}

/** `undefined` for what a crash or a full disk left of a line. */
export function decodeLine(text: string): LogLine | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isLogLine(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function isLogLine(value: unknown): value is LogLine {
  if (!value || typeof value !== 'object') return false;
  const isText = (name: string) => typeof Reflect.get(value, name) === 'string';
  // Lines of the orchestrator itself, and of connections, are about no agent.
  const isTextOrAbsent = (name: string) => Reflect.get(value, name) === undefined || isText(name);
  return ['time', 'level', 'message'].every(isText) && ['agent', 'instance'].every(isTextOrAbsent);
}
