/** The question, then the answer: as it is written when somebody watches, in one piece when nobody does. */
import type { TurnDelta } from '@goondan/types';
import type { Terminal } from '../terminal.ts';

export interface AnswerPrinter {
  readonly stream: (delta: TurnDelta) => void;
  /** The turn is over, and this is what counts. */
  readonly end: (response: string) => void;
}

/** Under the first word of the answer. */
const newLine = '\n       ';

export function printAnswer(question: string, { print, colors, isWatched }: Terminal): AnswerPrinter {
  let streamed = '';
  print(`${colors.bold('You')}    ${question}\n${colors.bold('Agent')}  `);
  return {
    stream(delta) {
      if (!isWatched || delta.type === 'reasoning') return;
      // What a failed step has said does not count; the next one starts on a line of its own.
      if (delta.type === 'discard' && streamed !== '') print(newLine);
      if (delta.type === 'text') print(delta.text);
      streamed = delta.type === 'text' ? streamed + delta.text : '';
    },
    end(response) {
      // A layer may have changed what was streamed; a failed turn has no response.
      const rest = streamed === '' ? response : `${newLine}${response}`;
      print(streamed === response || response === '' ? '\n' : `${rest}\n`);
    },
  };
}
