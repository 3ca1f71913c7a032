/** The frames of an error's stack, as Bun writes them: `at name (/path/file.ts:14:7)`, `at async /path/file.ts:14:7`. */
import type { CodePlace } from '@goondan/types';
import { readField } from '../json/read-field.ts';

export interface StackFrame {
  /** Of the function; empty when it has none. */
  readonly name: string;
  /** With an absolute path. Undefined when it is in no file: `(native)`, `(unknown)`. */
  readonly at: CodePlace | undefined;
}

/** Characters of a stack that are looked at. */
const LONGEST = 65_536;

/** Innermost first; empty when it has none. */
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

/** A message of several lines may look like frames. */
function withoutMessage(stack: string, message: unknown): string {
  const start = typeof message === 'string' && message !== '' ? stack.indexOf(message) : -1;
  return start < 0 ? stack : stack.slice(start + String(message).length);
}

function readFrame(text: string): StackFrame {
  const named = /^(.*?) \((.*)\)$/.exec(text);
  const name = named?.[1] ?? '';
  const at = /^(.*):(\d+):(\d+)$/.exec(named?.[2] ?? text);
  const file = at?.[1] === undefined ? undefined : toPath(at[1]);
  if (file === undefined) return { name: named === null ? '' : name, at: undefined };
  return { name: name === '<anonymous>' ? '' : name, at: { file, line: Number(at?.[2]), column: Number(at?.[3]) } };
}

/** Undefined for what is built in: `node:fs`, `bun:main`. */
function toPath(source: string): string | undefined {
  const path = source.startsWith('file://') ? Bun.fileURLToPath(source) : source;
  return /^(?:\/|[A-Za-z]:[\\/])/.test(path) ? path.replace(/\?.*$/, '') : undefined;
}
