import type { LogLine } from '@goondan/runtime';
import { ambiguousId, findTurnId, shortTurnId } from '@goondan/runtime/internal';
import { logLevels } from './log-options.ts';
import { textOfLine } from './render-log-line.ts';

export interface LineChoice {
  /** The least important level to show. */
  readonly level: (typeof logLevels)[number];
  readonly since?: Date | undefined;
  readonly grep?: RegExp | undefined;
  /** The id of a turn or a trace, or its beginning. */
  readonly trace?: string | undefined;
}

/** Returns the function that tells whether a line is shown. */
export function chooseLines({ level, since, grep, trace }: LineChoice): (line: LogLine) => boolean {
  const hidden: readonly string[] = logLevels.slice(0, logLevels.indexOf(level));
  return (line) =>
    !hidden.includes(line.level) &&
    (trace === undefined || meaningOf(line, trace) !== undefined) &&
    (since === undefined || new Date(line.time) >= since) &&
    (grep === undefined || grep.test(textOfLine(line)));
}

/**
 * Returns the id that a typed id may mean in this line: that of its turn, or that of its trace. Returns `undefined` when
 * the line is about something else.
 */
function meaningOf({ turnId, traceId }: LogLine, typed: string): string | undefined {
  if (traceId?.startsWith(typed) === true) return `trace ${traceId}`;
  return turnId === undefined ? undefined : findTurnId(typed, [turnId]);
}

/** Rejects a typed id that begins like several ids of the lines. **Errors** — `E_TRACE_AMBIGUOUS`. */
export function checkMeaning(lines: readonly LogLine[], typed: string): void {
  const meanings = new Set(lines.map((line) => meaningOf(line, typed)).filter((id) => id !== undefined));
  const traces = [...meanings].filter((id) => id.startsWith('trace '));
  const turnIds = [...meanings].filter((id) => !id.startsWith('trace '));
  if (meanings.size < 2 || traces.includes(`trace ${typed}`)) return;
  if (traces.length === 0) return void findTurnId(typed, turnIds);
  throw ambiguousId(typed, [...traces, ...turnIds], (id) => (id.startsWith('trace ') ? id : shortTurnId(id, turnIds)));
}
