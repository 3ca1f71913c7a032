/** An answer: as it is written when somebody watches, harmless then; in one piece, and as it is, when nobody does. */
import type { TurnDelta } from '@goondan/types';
import { harmlessLines } from './harmless-text.ts';
import type { Terminal } from './terminal.ts';

export interface AnswerPrinter {
  readonly stream: (delta: TurnDelta) => void;
  /** The turn is over, and this is what counts. */
  readonly end: (response: string) => void;
}

/** `newLine` begins a line that is not the first; `isBegun`: something stands on the first already. */
export function printAnswer({ print, isWatched }: Terminal, newLine = '\n', isBegun = false): AnswerPrinter {
  const show = (text: string) => (isWatched ? harmlessLines(text) : text);
  let streamed = '';
  let stepId: string | undefined;
  return {
    stream(delta) {
      if (!isWatched || delta.type === 'reasoning') return;
      // What a failed step has said does not count; the next one starts on a line of its own, as every step does.
      const isOver = delta.type === 'discard' || delta.stepId !== stepId;
      if (isOver && streamed !== '') print(newLine);
      if (isOver) streamed = '';
      stepId = delta.stepId;
      if (delta.type !== 'text') return;
      print(show(delta.text));
      streamed += delta.text;
    },
    end(response) {
      // A failed turn has no response: what it streamed ends with its line, and nothing is nothing.
      if (streamed === '' && response === '' && !isBegun) return;
      // A layer may have changed what was streamed.
      const rest = `${streamed === '' ? '' : newLine}${show(response)}`;
      print(streamed === response || response === '' ? '\n' : `${rest}\n`);
    },
  };
}
