/** Prints an answer: for a person as it is streamed, and escaped; for a program all at once, and unchanged. */
import type { TurnDelta } from '@goondan/types';
import { harmlessLines } from './harmless-text.ts';
import type { Terminal } from './terminal.ts';

/** `newLine` is printed at the start of each further line. `isBegun`: the first line already contains text. */
export function printAnswer({ print, isWatched }: Terminal, newLine = '\n', isBegun = false) {
  const show = (text: string) => (isWatched ? harmlessLines(text) : text);
  let streamed = '';
  let stepId: string | undefined;
  /** True if the streamed text has a line break after it already. */
  let isBroken = false;
  const lineBreak = () => (isBroken ? '' : newLine);
  return {
    stream(delta: TurnDelta): void {
      if (!isWatched || delta.type === 'reasoning') return;
      // The text of a failed step is discarded; every step begins on a new line.
      const isOver = delta.type === 'discard' || delta.stepId !== stepId;
      if (isOver && streamed !== '') print(lineBreak());
      if (isOver) streamed = '';
      isBroken = false;
      stepId = delta.stepId;
      if (delta.type !== 'text') return;
      print(show(delta.text));
      streamed += delta.text;
    },
    /** Ends the line of the text so far, because a line that is not part of the answer follows. */
    breakLine(): void {
      if (streamed === '' || isBroken) return;
      print(newLine);
      isBroken = true;
    },
    /** Ends the turn with its final response. */
    end(response: string): void {
      // A failed turn has no response: if text was streamed, the line is ended; otherwise nothing is printed.
      if (streamed === '' && response === '' && !isBegun) return;
      // A layer may have changed the streamed text; then the final response is printed as well.
      const rest = `${streamed === '' ? '' : lineBreak()}${show(response)}`;
      if (streamed === response || response === '') return isBroken ? undefined : print('\n');
      print(`${rest}\n`);
    },
  };
}
