/**
 * Before code of a bundle runs for the first time, a person says that it may: asked at a terminal, where the answer is
 * remembered, or with `--trust`, which counts for one run.
 */
import { createInterface } from 'node:readline/promises';
import { isTrusted, rememberTrust } from '@goondan/runtime';
import { GoondanError } from '@goondan/types';
import type { Terminal } from '../terminal.ts';

export interface TrustQuestion {
  readonly stateRoot: string;
  /** The bundle's real path. */
  readonly folder: string;
  /** `--trust`. */
  readonly trust: boolean;
  /** Ctrl-C. */
  readonly signal?: AbortSignal;
}

/** **Errors** — `E_UNTRUSTED`; `E_CANCELLED`; those of the disk. */
export async function checkTrust(question: TrustQuestion, terminal: Terminal): Promise<void> {
  const { stateRoot, folder, trust } = question;
  if (trust || (await isTrusted({ stateRoot, folder }))) return;
  if (!terminal.canAsk) {
    const suggestion = 'Look at what is in it. Then add `--trust`, or run it once from a terminal, where `gdn` asks.';
    throw new GoondanError('E_UNTRUSTED', `The code in "${folder}" has not been run before.`, { suggestion });
  }
  if (!isYes(await ask(folder, terminal, question.signal))) {
    throw new GoondanError('E_UNTRUSTED', `Nothing of "${folder}" was run.`);
  }
  await rememberTrust({ stateRoot, folder });
}

async function ask(folder: string, { printError, errorColors }: Terminal, signal?: AbortSignal): Promise<string> {
  printError(
    `The code in ${errorColors.bold(folder)} has not been run before. Its tools, extensions and connectors\n` +
      'can do on this machine what you can do. Run it, and remember that? [y/N] ',
  );
  // Without `output` it leaves the terminal as it is, Ctrl-C included.
  const lines = createInterface({ input: process.stdin });
  // At the end of the input no answer comes any more, and that is none.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    return await Promise.race([lines.question('', signal === undefined ? {} : { signal }), ended]);
  } catch (error) {
    printError('\n');
    throw new GoondanError('E_CANCELLED', 'Nobody said whether it may run, so it did not.', { cause: error });
  } finally {
    lines.close();
  }
}

function isYes(answer: string): boolean {
  return /^\s*y(es)?\s*$/i.test(answer);
}
