/**
 * The terminal of `gdn`: where it prints and asks, whether a person watches, and in which colours. Output to a terminal
 * contains no control sequences except those colours, because models, tools and files write a part of it.
 */
import pc from 'picocolors';
import { harmlessOutput } from './harmless-text.ts';

export interface Terminal {
  /** Writes the result to standard output. */
  readonly print: (text: string) => void;
  /** Writes a long text to standard output: resolves when it was taken, so that nothing piles up. */
  readonly write: (text: string) => Promise<void>;
  /** Writes everything else to standard error. */
  readonly printError: (text: string) => void;
  /** True when a person watches standard output: text may appear piece by piece. */
  readonly isWatched: boolean;
  /** True when a person watches standard error: long work may show progress there. */
  readonly showsProgress: boolean;
  /** True when a person types at standard input. */
  readonly isTyped: boolean;
  /** The width of a line; `undefined` when standard output is not a terminal. */
  readonly columns: number | undefined;
  /** True with `--json`, for programs. */
  readonly errorsAsJson: boolean;
  /** True with `GOONDAN_DEBUG`: an unexpected error shows its stack. */
  readonly showsStack: boolean;
  /** True when a person types at standard input and sees standard error, and so can be asked. */
  readonly canAsk: boolean;
  /** For standard output. */
  readonly colors: Colors;
  /** For standard error. */
  readonly errorColors: Colors;
}

export type Colors = ReturnType<typeof pc.createColors>;

interface Stream {
  write(text: string, taken?: () => void): unknown;
  /** Absent, contrary to its type in Node, when the stream is not a terminal. */
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface TerminalProcess {
  readonly stdin?: { readonly isTTY?: boolean };
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly json?: boolean;
}

export function openTerminal({ stdin, stdout, stderr, env, json = false }: TerminalProcess): Terminal {
  // Not picocolors' own detection, which colours a pipe when CI is set.
  const mayColor = !env.NO_COLOR && env.TERM !== 'dumb';
  const forPeople = ({ isTTY }: Stream, text: string) => (isTTY === true ? harmlessOutput(text) : text);
  // True while standard output is in the middle of a line on a screen that standard error writes to, too.
  let isMidLine = false;
  return {
    print(text) {
      if (text === '') return;
      isMidLine = stdout.isTTY === true && stderr.isTTY === true && !text.endsWith('\n');
      stdout.write(forPeople(stdout, text));
    },
    write: (text) => new Promise((resolve) => void stdout.write(forPeople(stdout, text), () => resolve())),
    printError(text) {
      stderr.write(forPeople(stderr, isMidLine ? `\n${text}` : text));
      isMidLine = false;
    },
    isWatched: stdout.isTTY === true,
    showsProgress: stderr.isTTY === true,
    isTyped: stdin?.isTTY === true,
    // Some terminals do not know their size and report 0.
    columns: stdout.isTTY === true ? stdout.columns || USUAL_COLUMNS : undefined,
    errorsAsJson: json,
    showsStack: Boolean(env.GOONDAN_DEBUG),
    canAsk: stdin?.isTTY === true && stderr.isTTY === true,
    colors: pc.createColors(mayColor && stdout.isTTY === true),
    errorColors: pc.createColors(mayColor && stderr.isTTY === true),
  };
}

const USUAL_COLUMNS = 80;
