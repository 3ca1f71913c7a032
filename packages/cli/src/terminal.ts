/**
 * Where `gdn` prints and asks: whether somebody watches, and in which colours. Whatever is printed, a terminal is given
 * nothing to obey but those colours: models, tools and files say a part of it.
 */
import pc from 'picocolors';
import { harmlessOutput } from './harmless-text.ts';

export interface Terminal {
  /** Standard output: what was asked for. */
  readonly print: (text: string) => void;
  /** The same, for what may be long: resolves when it was taken, so that nothing piles up. */
  readonly write: (text: string) => Promise<void>;
  /** Standard error: everything else. */
  readonly printError: (text: string) => void;
  /** A person watches standard output: text may appear bit by bit. */
  readonly isWatched: boolean;
  /** A person watches standard error: long work may show there that it goes on. */
  readonly showsProgress: boolean;
  /** A person sits at standard input. */
  readonly isTyped: boolean;
  /** How wide a line may be; `undefined` when nobody watches. */
  readonly columns: number | undefined;
  /** For programs: `--json`. */
  readonly errorsAsJson: boolean;
  /** Of an error that nobody foresaw, show where it happened: `GOONDAN_DEBUG`. */
  readonly showsStack: boolean;
  /** A person sits at standard input and sees standard error: they can be asked. */
  readonly canAsk: boolean;
  /** For standard output. */
  readonly colors: Colors;
  /** For standard error. */
  readonly errorColors: Colors;
}

export type Colors = ReturnType<typeof pc.createColors>;

interface Stream {
  write(text: string, taken?: () => void): unknown;
  /** Absent, against its type in Node, when the stream is no terminal. */
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
  // Not picocolors' own guess: that one colours a pipe when CI is set.
  const mayColor = !env.NO_COLOR && env.TERM !== 'dumb';
  const forPeople = ({ isTTY }: Stream, text: string) => (isTTY === true ? harmlessOutput(text) : text);
  // Of what standard output has on a screen that standard error writes to, too.
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
    // Some terminals do not know their size, and say 0.
    columns: stdout.isTTY === true ? stdout.columns || USUAL_COLUMNS : undefined,
    errorsAsJson: json,
    showsStack: Boolean(env.GOONDAN_DEBUG),
    canAsk: stdin?.isTTY === true && stderr.isTTY === true,
    colors: pc.createColors(mayColor && stdout.isTTY === true),
    errorColors: pc.createColors(mayColor && stderr.isTTY === true),
  };
}

const USUAL_COLUMNS = 80;
