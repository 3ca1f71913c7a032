import type { DiffLine } from '../show-diff.ts';

/** The place where a person is asked: the input line of the chat, or the terminal of a command. */
export interface Asker {
  /** True if the question came while the person typed something else. Then the first line may be the end of it. */
  readonly wasTyping?: boolean;
  show(lines: readonly DiffLine[]): void;
  /** Completes the commands in a text of `gdn`, so that a person can copy them; see `Terminal`. */
  suggest(text: string): string;
  /** Reads a line. Returns `undefined` if the person leaves the question open, or nobody needs the answer any more. */
  readLine(prompt: string): Promise<string | undefined>;
  /** Lets the person edit a text of several lines. Returns `undefined` as `readLine` does. */
  editText(text: string, prompt: string): Promise<string | undefined>;
  /** True if the editor covers the screen, so that a problem must be read before the editor opens again. */
  readonly hidesProblems?: boolean;
}
