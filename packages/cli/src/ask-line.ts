import { createInterface } from 'node:readline/promises';
import { wrapWords } from './fit-width.ts';
import { discardTypedAhead } from './discard-typed-ahead.ts';
import type { Terminal } from './terminal.ts';

/**
 * Asks a question and reads one line; the terminal must have `canAsk`. Keys typed before the question is on the screen
 * do not count. Returns `undefined` when `signal` aborts or the input ends.
 */
export async function askLine(question: string, terminal: Terminal, signal?: AbortSignal): Promise<string | undefined> {
  discardTypedAhead();
  terminal.printError(`${wrapWords(question.trimEnd(), terminal.errorColumns)} `);
  // Without the option `output`, readline does not change the mode of the terminal, so Ctrl-C works as usual.
  const lines = createInterface({ input: process.stdin });
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  const aborted = lines.question('', signal === undefined ? {} : { signal }).catch(() => undefined);
  try {
    const answer = await Promise.race([aborted, ended]);
    if (answer === undefined) terminal.printError('\n');
    return answer;
  } finally {
    lines.close();
  }
}
