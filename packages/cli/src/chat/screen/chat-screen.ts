/** The screen that the chat draws on, with or without a movable cursor. */
import type { Completion } from '../complete-input.ts';
import { type Line, span } from './line.ts';

export interface ChatScreen {
  /** Takes over the terminal. From then on, the screen calls its hooks. */
  open(): void;
  /** The width of a line. */
  readonly columns: number;
  /** Prints finished lines. They stay in the scrollback, above the live part. */
  print(lines: readonly Line[]): void;
  /** Prints the person's message when the chat sends it. */
  printSent(text: string): void;
  /** Redraws the live part. Call this method when the result of `ScreenHooks.live` has changed. */
  refresh(): void;
  /** The text that has not been sent yet. */
  readonly draft: string;
  /** Replaces the unsent text. */
  setDraft(text: string): void;
  /** Replaces the unsent text with one to edit. If the screen cannot edit it, it is printed, and the person types another. */
  offer(text: string): void;
  /** Clears the unsent text; the arrow keys can bring it back. */
  clearDraft(): void;
  /** Sets the entries that the arrow keys bring back, oldest first. */
  setHistory(sent: readonly string[]): void;
  /** Restores the terminal. Later lines are still printed. */
  close(): void;
}

/** The events of a screen, and the data that the screen reads. */
export interface ScreenHooks {
  /**
   * The person sent a line, which may be blank. If a turn runs, the line is for this turn (`now`), or for the next one. When
   * absent, the line may come from a file: it is handled after all lines before it.
   */
  sent(text: string, when?: 'now' | 'next'): void;
  /** No more lines come. */
  ended(): void;
  /** Completes the text before the cursor; see `completeInput`. */
  complete(before: string): Promise<Completion | undefined> | undefined;
  /** Returns true if a message can be queued as the next turn, because a turn runs and asks nothing. */
  mayQueue(): boolean;
  /** The person pressed Ctrl-C. */
  interrupt(): void;
  /** The person pressed Ctrl-D on an empty line. */
  leave(): void;
  /** The person pressed Ctrl-\. */
  quit(): void;
  /** The terminal's window was closed, or the connection was lost. */
  gone(): void;
  live(): LiveView;
}

/** The part of the screen that is redrawn. */
export interface LiveView {
  /** The lines above the prompt; if there are too many, only the last are shown. */
  readonly lines: readonly Line[];
  /** A hint that is shown for a moment. */
  readonly hint?: Line;
  /** The label before the input. */
  readonly label: string;
}

export const CHAT_LABEL = '> ';

/** Formats a sent message as it stays on the screen. */
export function describeSent(text: string): Line[] {
  const indent = ' '.repeat(CHAT_LABEL.length);
  return text.split('\n').map((each, index) => [span(index === 0 ? CHAT_LABEL : indent, 'cyan'), span(each, 'bold')]);
}
