/** Prints an answer: for a person while it is written, and harmless; for a program in one piece, and unchanged. */
import type { TurnDelta } from '@goondan/types';
import { harmlessLines } from './harmless-text.ts';
import type { Terminal } from './terminal.ts';

export interface AnswerPrinter {
  readonly stream: (delta: TurnDelta) => void;
  /** Ends the turn with its final response. */
  readonly end: (response: string) => void;
}

/** `newLine` begins each further line; `isBegun`: the first line already has text. */
export function printAnswer({ print, isWatched }: Terminal, newLine = '\n', isBegun = false): AnswerPrinter {
  const show = (text: string) => (isWatched ? harmlessLines(text) : text);
  let streamed = '';
  let stepId: string | undefined;
  return {
    stream(delta) {
      if (!isWatched || delta.type === 'reasoning') return;
      // Text of a failed step does not count; the next step begins on a new line, as every step does.
      const isOver = delta.type === 'discard' || delta.stepId !== stepId;
      if (isOver && streamed !== '') print(newLine);
      if (isOver) streamed = '';
      stepId = delta.stepId;
      if (delta.type !== 'text') return;
      print(show(delta.text));
      streamed += delta.text;
    },
    end(response) {
      // A failed turn has no response: its streamed text ends the line, and without text nothing is printed.
      if (streamed === '' && response === '' && !isBegun) return;
      // A layer may have changed the streamed text.
      const rest = `${streamed === '' ? '' : newLine}${show(response)}`;
      print(streamed === response || response === '' ? '\n' : `${rest}\n`);
    },
  };
}
