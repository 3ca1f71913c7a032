import { askLine } from './ask-line.ts';
import { interrupted } from './interrupted.ts';
import type { Terminal } from './terminal.ts';

/**
 * Asks a yes-or-no question; the terminal must have `canAsk`. Every answer except yes means no, and so does the end of
 * the input. `signal` aborts on Ctrl-C. **Errors** — `E_CANCELLED`, with the message `unanswered`, when the question was
 * interrupted.
 */
export async function askYesOrNo(
  { question, unanswered, signal }: { readonly question: string; readonly unanswered: string; signal?: AbortSignal },
  terminal: Terminal,
): Promise<boolean> {
  const answer = await askLine(`${question} [y/N] `, terminal, signal);
  if (answer === undefined && signal?.aborted === true) throw interrupted(unanswered);
  return answer !== undefined && isYes(answer);
}

export function isYes(answer: string): boolean {
  return /^\s*y(es)?\s*$/i.test(answer);
}
