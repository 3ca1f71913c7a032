/** Encodes log lines for a file, and decodes them. */
import { codePlace } from '../../ipc/check/code-place.ts';
import { object, oneOf, optional, text as anyText } from '../../ipc/check/shape.ts';
import type { LogLine } from '../../ports/log-line.ts';

/** The maximum length of a line. A longer line is written without its data and with a shortened message. */
const LONGEST_LINE = 64 * 1024;
const LONGEST_MESSAGE = 16 * 1024;

/**
 * Encodes one line. Returns `undefined` when the line cannot be written as JSON, or is too long even without its data
 * and with a shortened message.
 */
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

/** Makes the line that replaces dropped lines. */
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

/** The fields that readers search and print. */
const readFields = object({
  time: anyText,
  level: oneOf('debug', 'info', 'warn', 'error'),
  message: anyText,
  agent: optional(anyText),
  instance: optional(anyText),
  connection: optional(anyText),
  extension: optional(anyText),
  traceId: optional(anyText),
  place: optional(codePlace),
});

/** Decodes one line. Returns `undefined` for a partial line, which a crash or a full disk can leave. */
export function decodeLine(text: string): LogLine | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    readFields(parsed);
    // Safe: the fields that readers use were just checked.
    return parsed as LogLine;
  } catch {
    return undefined;
  }
}
