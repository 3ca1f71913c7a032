/** The screen that the chat needs, with or without a movable cursor. */
import { type Line, span } from './line.ts';

export interface ChatScreen {
  /** Takes over the terminal; after that the hooks are called. */
  open(): void;
  /** Prints finished lines: they stay above the changing part, in the scrollback. */
  print(lines: readonly Line[]): void;
  /** Prints the person's message when the chat sends it. */
  printSent(text: string): void;
  /** Redraws after a change of `ScreenHooks.live`. */
  refresh(): void;
  /** The text that is not sent yet. */
  readonly draft: string;
  /** Replaces the unsent text. */
  setDraft(text: string): void;
  /** Empties the line; its text can be brought back. */
  clearDraft(): void;
  /** Sets the entries that the arrow keys bring back, oldest first. */
  setHistory(sent: readonly string[]): void;
  /** Restores the terminal. Later lines are still printed. */
  close(): void;
}

/** Events of a screen, and the data it asks for. */
export interface ScreenHooks {
  /** A line, which may be blank. */
  sent(text: string): void;
  /** Ctrl-C. */
  interrupt(): void;
  /** Ctrl-D on an empty line. */
  leave(): void;
  /** Ctrl-\. */
  quit(): void;
  /** The terminal is gone: its window was closed, or the connection lost. */
  gone(): void;
  live(): LiveView;
}

/** The changing part of the screen. */
export interface LiveView {
  /** Shown above the prompt; when there are too many, the last ones. */
  readonly lines: readonly Line[];
  /** Shown for a moment. */
  readonly hint?: Line;
  /** The label before the input. */
  readonly label: string;
}

export const CHAT_LABEL = '> ';

/** Describes a person's message as it stays on the screen. */
export function describeSent(text: string): Line[] {
  const indent = ' '.repeat(CHAT_LABEL.length);
  return text.split('\n').map((each, index) => [span(index === 0 ? CHAT_LABEL : indent, 'cyan'), span(each, 'bold')]);
}
