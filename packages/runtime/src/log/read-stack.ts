/**
 * Reads the frames of an error's stack, as Bun writes them: `at name (/path/file.ts:14:7)`,
 * `at async /path/file.ts:14:7`.
 */
import type { CodePlace } from '@goondan/types';
import { readField } from '../json/read-field.ts';
import { unlessThrows } from '../ports/unless-throws.ts';

export interface StackFrame {
  /** The name of the function; empty when it has none. */
  readonly name: string;
  /** The place, with an absolute path. Undefined when the frame is not in a file: `(native)`, `(unknown)`. */
  readonly at: CodePlace | undefined;
}

/** The maximum number of characters of a stack to read. */
const LONGEST = 65_536;

/** Returns the frames, innermost first; empty when the error has no stack. */
export function readStack(error: unknown): readonly StackFrame[] {
  const stack = readField(error, 'stack');
  if (typeof stack !== 'string') return [];
  return withoutMessage(stack.slice(0, LONGEST), readField(error, 'message'))
    .split('\n')
    .flatMap((line) => {
      const frame = /^\s+at (?:async )?(.+)$/.exec(line)?.[1];
      return frame === undefined ? [] : [readFrame(frame)];
    });
}

/** Removes the message, because its lines may look like frames. */
function withoutMessage(stack: string, message: unknown): string {
  const start = typeof message === 'string' && message !== '' ? stack.indexOf(message) : -1;
  return start < 0 ? stack : stack.slice(start + String(message).length);
}

function readFrame(text: string): StackFrame {
  // The closing bracket is checked first, because the pattern takes quadratic time on a long line without a bracket.
  const named = text.endsWith(')') ? /^(.*?) \((.*)\)$/.exec(text) : null;
  const name = named?.[1] ?? '';
  const [, file, line, column] = /^(.*):(\d+):(\d+)$/.exec(named?.[2] ?? text) ?? [];
  const at = toPlace(file, Number(line), Number(column));
  return { name: at !== undefined && name === '<anonymous>' ? '' : name, at };
}

/**
 * Returns the place, with an absolute path. Returns `undefined` for built-in modules, such as `node:fs` or `bun:main`,
 * and for anything that is not a place in a file.
 */
export function toPlace(source: unknown, line: unknown, column: unknown): CodePlace | undefined {
  if (typeof source !== 'string' || !isCount(line) || !isCount(column)) return undefined;
  const path = source.startsWith('file://') ? fileOf(source) : source;
  return /^(?:\/|[A-Za-z]:[\\/])/.test(path) ? { file: path.replace(/\?.*$/, ''), line, column } : undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/**
 * Returns the path of a `file:` URL. Returns an empty text for a URL that is not a path on this machine, because a
 * stack may come from another machine.
 */
function fileOf(url: string): string {
  return unlessThrows(() => Bun.fileURLToPath(url)) ?? '';
}
