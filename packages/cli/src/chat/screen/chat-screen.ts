/** What the chat needs of a screen, whether it can move its cursor or not. */
import { type Line, span } from './line.ts';

export interface ChatScreen {
  /** Takes the terminal over; from here on the hooks are called. */
  open(): void;
  /** Finished lines: they stay above everything that still changes, in the scrollback. */
  print(lines: readonly Line[]): void;
  /** What the person said, when the chat sends it. */
  printSent(text: string): void;
  /** What `ScreenHooks.live` gives has changed. */
  refresh(): void;
  /** What is written and not sent. */
  readonly draft: string;
  /** Puts a text in place of what is written. */
  setDraft(text: string): void;
  /** Empties the line, so that it can be brought back. */
  clearDraft(): void;
  /** What the arrow keys bring back, oldest first. */
  setHistory(sent: readonly string[]): void;
  /** Leaves the terminal as it was. What is printed after it is printed all the same. */
  close(): void;
}

/** What a screen tells the chat, and asks it for. */
export interface ScreenHooks {
  /** A line, which may be blank. */
  sent(text: string): void;
  /** Ctrl-C. */
  interrupt(): void;
  /** Ctrl-D on an empty line. */
  leave(): void;
  /** Ctrl-\. */
  quit(): void;
  /** There is no terminal any more: its window was closed, or the connection to it lost. */
  gone(): void;
  live(): LiveView;
}

/** What is still changing. */
export interface LiveView {
  /** Above the prompt; of more than fit, the last ones are shown. */
  readonly lines: readonly Line[];
  /** For a moment only. */
  readonly hint?: Line;
  /** What stands before what is written. */
  readonly label: string;
}

export const CHAT_LABEL = '> ';

/** What a person said, as it stays on the screen. */
export function describeSent(text: string): Line[] {
  const indent = ' '.repeat(CHAT_LABEL.length);
  return text.split('\n').map((each, index) => [span(index === 0 ? CHAT_LABEL : indent, 'cyan'), span(each, 'bold')]);
}
