/**
 * Asks a person for trust before code of a bundle runs that nobody has trusted yet. At a terminal the answer is remembered;
 * `--trust` grants trust for one run.
 */
import { isTrusted, rememberTrust } from '@goondan/runtime/bundle';
import { stateRoot as chooseStateRoot } from '@goondan/runtime/control';
import { GoondanError } from '@goondan/types';
import { askYesOrNo } from '../ask-yes-or-no.ts';
import { stateRootChoice } from '../common-options.ts';
import { quoteForShell } from '../quote-for-shell.ts';
import { optionsAgain } from '../swarm/options-again.ts';
import type { Terminal } from '../terminal.ts';
import { typedGdn } from '../typed-gdn.ts';

export interface TrustQuestion {
  readonly stateRoot: string;
  /** The folder of the bundle, as a path without symbolic links. */
  readonly folder: string;
  /** True if `--trust` was given. */
  readonly trust: boolean;
  /** Aborts on Ctrl-C. */
  readonly signal?: AbortSignal;
}

/** **Errors** — `E_UNTRUSTED`; `E_CANCELLED`; errors of the file system. */
export async function checkTrust(question: TrustQuestion, terminal: Terminal): Promise<void> {
  const { stateRoot, folder, trust } = question;
  if (trust || (await isTrusted({ stateRoot, folder }))) return;
  if (!terminal.canAsk) {
    const suggestion =
      'Review the code. Then add `--trust` to this command to trust the code once, or run ' +
      `\`${trustingCommand(question)}\` at a terminal, where \`gdn\` asks and remembers your answer.`;
    throw new GoondanError('E_UNTRUSTED', `The code in "${folder}" is not trusted yet.`, { suggestion });
  }
  const isAllowed = await askYesOrNo(
    {
      question: questionAbout(folder, terminal),
      unanswered: 'There was no answer, so the code was not run.',
      ...(question.signal === undefined ? {} : { signal: question.signal }),
    },
    terminal,
  );
  if (!isAllowed) throw new GoondanError('E_UNTRUSTED', `Nothing of "${folder}" was run.`);
  await rememberTrust({ stateRoot, folder });
}

/** Returns the command that asks for trust. It names the state root, which remembers the answer, unless that is usual. */
function trustingCommand({ stateRoot, folder }: TrustQuestion): string {
  const isUsual = stateRoot === chooseStateRoot(stateRootChoice({}));
  const given = optionsAgain(isUsual ? {} : { stateRoot });
  return [`${typedGdn()} run`, quoteForShell(folder), ...given].join(' ');
}

function questionAbout(folder: string, { errorColors }: Terminal): string {
  return (
    `The code in ${errorColors.bold(folder)} is not trusted yet. Its tools, extensions and connectors ` +
    'can do anything on this machine that you can do. Run it, and remember that?'
  );
}
