/**
 * The terminal of `gdn`: where to print, whether a person watches and can be asked, and which colours to use. Output to
 * a terminal contains no control sequences except colours, because parts of the output come from models, tools and
 * files.
 */
import { type Colors, createColors } from './colors.ts';
import { cutToWidth } from './fit-width.ts';
import { harmlessOutput, harmlessText } from './harmless-text.ts';
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
  /**
   * Shows a line on standard error that anything printed later replaces, or clears it. Does nothing if no person watches,
   * and in the middle of a line of the answer.
   */
  readonly showStatus: (text: string | undefined) => void;
  /** True when a person watches standard output, so that text may be streamed. */
  readonly isWatched: boolean;
  /** True when a person watches standard error, so that long work may show progress there. */
  readonly showsProgress: boolean;
  /** True when a person types at standard input. */
  readonly isTyped: boolean;
  /** The width of a line; `undefined` when standard output is not a terminal. */
  readonly columns: number | undefined;
  /** The width of a line of standard error; `undefined` when it is not a terminal. */
  readonly errorColumns: number | undefined;
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
  let status = '';
  const errorColors = createColors(mayColor && stderr.isTTY === true);
  const errorColumns = widthOfScreen(stderr);
  const eraseStatus = () => {
    // Spaces work on every terminal, and also erase a `^C` behind the line.
    if (status !== '') stderr.write(`\r${' '.repeat((errorColumns ?? 1) - 1)}\r`);
    status = '';
  };
  return {
    print(text) {
      if (text === '') return;
      eraseStatus();
      isMidLine = stdout.isTTY === true && stderr.isTTY === true && !text.endsWith('\n');
      stdout.write(forPeople(stdout, text));
    },
    write(text) {
      eraseStatus();
      return new Promise((resolve) => void stdout.write(forPeople(stdout, text), () => resolve()));
    },
    printError(text) {
      eraseStatus();
      stderr.write(forPeople(stderr, isMidLine ? `\n${text}` : text));
      isMidLine = false;
    },
    showStatus(text) {
      // A line that fills the last column would wrap, and so would a `^C` behind it.
      const line = text === undefined ? '' : cutToWidth(harmlessText(text), (errorColumns ?? USUAL_COLUMNS) - 3);
      if (errorColumns === undefined || line === status) return;
      eraseStatus();
      if (line === '' || isMidLine) return;
      status = line;
      stderr.write(errorColors.dim(line));
    },
    isWatched: stdout.isTTY === true,
    showsProgress: stderr.isTTY === true,
    isTyped: stdin?.isTTY === true,
    columns: widthOfScreen(stdout),
    errorColumns,
    errorsAsJson: json,
    showsStack: Boolean(env.GOONDAN_DEBUG),
    canAsk: stdin?.isTTY === true && stderr.isTTY === true,
    suggest: (text) => text.replaceAll('`gdn ', `\`${typedGdn(env)} `),
    colors: createColors(mayColor && stdout.isTTY === true),
    errorColors,
  };
}

const USUAL_COLUMNS = 80;

function widthOfScreen({ isTTY, columns }: OutputStream): number | undefined {
  // Some terminals do not know their size and report 0.
  return isTTY === true ? columns || USUAL_COLUMNS : undefined;
}
