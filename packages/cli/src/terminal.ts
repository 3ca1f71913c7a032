/**
 * The terminal of `gdn`: where to print, whether a person watches and can be asked, and which colours to use. Output to
 * a terminal contains no control sequences except colours, because parts of the output come from models, tools and
 * files.
 */
import { type Colors, createColors } from './colors.ts';
import { harmlessOutput } from './harmless-text.ts';
import type { OutputStream } from './standard-streams.ts';
import { typedGdn } from './typed-gdn.ts';

export interface Terminal {
  /** Writes the result to standard output. */
  readonly print: (text: string) => void;
  /**
   * Writes a long text to standard output. Resolves when the text has been accepted, so that nothing accumulates in
   * memory.
   */
  readonly write: (text: string) => Promise<void>;
  /** Writes everything that is not the result to standard error. */
  readonly printError: (text: string) => void;
  /** True when a person watches standard output, so that text may be streamed. */
  readonly isWatched: boolean;
  /** True when a person watches standard error, so that long work may show progress there. */
  readonly showsProgress: boolean;
  /** True when a person types at standard input. */
  readonly isTyped: boolean;
  /** The width of a line; `undefined` when standard output is not a terminal. */
  readonly columns: number | undefined;
  /** True if `--json` was given, so that errors are printed as JSON. */
  readonly errorsAsJson: boolean;
  /** True if `GOONDAN_DEBUG` is set, so that unexpected errors are printed with their stack. */
  readonly showsStack: boolean;
  /** True when a person types at standard input and sees standard error, so that questions can be asked. */
  readonly canAsk: boolean;
  /** Completes the commands in a text, so that a person can copy them. */
  readonly suggest: (text: string) => string;
  /** Colours for standard output. */
  readonly colors: Colors;
  /** Colours for standard error. */
  readonly errorColors: Colors;
}

export interface TerminalProcess {
  readonly stdin?: { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly json?: boolean;
}

export function openTerminal({ stdin, stdout, stderr, env, json = false }: TerminalProcess): Terminal {
  const mayColor = !env.NO_COLOR && env.TERM !== 'dumb';
  const forPeople = ({ isTTY }: OutputStream, text: string) => (isTTY === true ? harmlessOutput(text) : text);
  // True while standard output is in the middle of a line on a screen that standard error also writes to.
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
    suggest: (text) => text.replaceAll('`gdn ', `\`${typedGdn(env)} `),
    colors: createColors(mayColor && stdout.isTTY === true),
    errorColors: createColors(mayColor && stderr.isTTY === true),
  };
}

const USUAL_COLUMNS = 80;
