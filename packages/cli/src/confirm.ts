import { GoondanError } from '@goondan/types';
import { askYesOrNo } from './ask-yes-or-no.ts';
import type { BundleOptions } from './common-options.ts';
import { interrupted } from './interrupted.ts';
import { optionsAgain } from './swarm/options-again.ts';
import type { Terminal } from './terminal.ts';

export interface Confirmation {
  /** The purpose of the command, as in `delete changeset 7`. */
  readonly purpose: string;
  readonly question: string;
  /** The message when the answer is not yes, such as `Nothing was deleted.` */
  readonly otherwise: string;
  /** The command as typed, without the options that select the swarm. */
  readonly typed: readonly string[];
  /** Shows details before the question. */
  readonly show?: () => void;
}

/**
 * Asks before a command that cannot be undone. Without a terminal, the command needs `--yes`. **Errors** — `E_USAGE` when
 * nobody can be asked, `E_CANCELLED` when the answer is not yes.
 */
export async function confirm(
  { purpose, question, otherwise, typed, show }: Confirmation,
  options: BundleOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  if (!terminal.canAsk) {
    const suggestion = `Type \`${[...typed, '--yes', ...optionsAgain(options)].join(' ')}\`.`;
    throw new GoondanError('E_USAGE', `To ${purpose}, confirm it.`, { suggestion });
  }
  show?.();
  if (!(await askYesOrNo({ question, unanswered: otherwise, signal }, terminal))) throw interrupted(otherwise);
}
