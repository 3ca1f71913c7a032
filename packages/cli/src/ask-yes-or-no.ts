import { createInterface } from 'node:readline/promises';
import { GoondanError } from '@goondan/types';
import type { Terminal } from './terminal.ts';

/**
 * Asks a yes-or-no question; the terminal must have `canAsk`. Every answer except yes means no. `signal` aborts on
 * Ctrl-C. **Errors** — `E_CANCELLED`, with the message `unanswered`, when the question was interrupted.
 */
export async function askYesOrNo(
  { question, unanswered, signal }: { readonly question: string; readonly unanswered: string; signal?: AbortSignal },
  terminal: Terminal,
): Promise<boolean> {
  terminal.printError(`${question} [y/N] `);
  // Without the option `output`, readline does not change the mode of the terminal, so Ctrl-C works as usual.
  const lines = createInterface({ input: process.stdin });
  // The end of the input counts as no answer.
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  try {
    const answer = await Promise.race([lines.question('', signal === undefined ? {} : { signal }), ended]);
    if (answer === undefined) terminal.printError('\n');
    return answer !== undefined && isYes(answer);
  } catch (error) {
    terminal.printError('\n');
    throw new GoondanError('E_CANCELLED', unanswered, { cause: error });
  } finally {
    lines.close();
  }
}

function isYes(answer: string): boolean {
  return /^\s*y(es)?\s*$/i.test(answer);
}
