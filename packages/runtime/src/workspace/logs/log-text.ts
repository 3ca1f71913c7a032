/** Encodes log lines for a file, and decodes them. */
import type { CodePlace } from '@goondan/types';
import { codePlace } from '../../ipc/check/code-place.ts';
import { object, optional, text as anyText } from '../../ipc/check/shape.ts';
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

/** The fields that readers search and print. Levels and further fields of a later version are allowed. */
const readFields = object({
  time: anyText,
  level: anyText,
  message: anyText,
  agent: optional(anyText),
  instance: optional(anyText),
  connection: optional(anyText),
  extension: optional(anyText),
  traceId: optional(anyText),
});

/**
 * Decodes one line. Returns `undefined` for a partial line, which a crash or a full disk can leave. A line of a later
 * version is returned with all its fields, except a `place` with an unknown shape.
 */
export function decodeLine(text: string): LogLine | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    readFields(parsed);
    // Safe: the fields that readers use were just checked; an unknown level is only printed.
    const { place, ...line } = parsed as LogLine;
    return place !== undefined && isPlace(place) ? { ...line, place } : line;
  } catch {
    return undefined;
  }
}

function isPlace(value: unknown): value is CodePlace {
  try {
    codePlace(value);
    return true;
  } catch {
    return false;
  }
}
