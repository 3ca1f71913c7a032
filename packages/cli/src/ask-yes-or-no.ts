import { createInterface } from 'node:readline/promises';
import { GoondanError } from '@goondan/types';
import type { Terminal } from './terminal.ts';

export interface YesOrNo {
  readonly question: string;
  /** What it means that nobody answered. */
  readonly unanswered: string;
  /** Ctrl-C. */
  readonly signal?: AbortSignal;
}

/** For a terminal that `canAsk`. Everything but yes is no. **Errors** — `E_CANCELLED` when the question was interrupted. */
export async function askYesOrNo({ question, unanswered, signal }: YesOrNo, terminal: Terminal): Promise<boolean> {
  terminal.printError(`${question} [y/N] `);
  // Without `output` it leaves the terminal as it is, Ctrl-C included.
  const lines = createInterface({ input: process.stdin });
  // At the end of the input no answer comes any more, and that is none.
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
