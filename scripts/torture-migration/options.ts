/** Reads the command line of `npm run torture:migration`. */
import { parseArgs } from 'node:util';
import { OLD_COMMIT } from './old-version.ts';

export interface Options {
  readonly conversations: number;
  readonly kills: number;
  readonly seed: number;
  readonly old?: string;
}

const LEAST_CONVERSATIONS = 120;

export const help = `npm run torture:migration -- [--conversations N] [--kills N] [--seed N] [--old DIR]

  --conversations N  conversations with finished turns; at least ${LEAST_CONVERSATIONS} (default: 200)
  --kills N          kills of a migrating process (default: 100)
  --seed N           the seed of the random moments (default: random, and printed)
  --old DIR          a built clone of ${OLD_COMMIT}; made there and kept if DIR does not exist
                     (default: made in the temporary folder, and removed)
`;

/** Returns `help` when it is asked for. **Errors** — an `Error` that names the wrong option. */
export function readOptions(args: readonly string[]): Options | 'help' {
  const text = { type: 'string' } as const;
  const options = { conversations: text, kills: text, seed: text, old: text, help: { type: 'boolean' } } as const;
  const { values } = parseArgs({ args: [...args], options });
  if (values.help) return 'help';
  return {
    conversations: readNumber('conversations', values.conversations ?? '200', LEAST_CONVERSATIONS),
    kills: readNumber('kills', values.kills ?? '100', 1),
    seed: readNumber('seed', values.seed ?? String(Math.floor(Math.random() * 1e9)), 0),
    ...(values.old === undefined ? {} : { old: values.old }),
  };
}

function readNumber(name: string, text: string, least: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= least) return number;
  throw new Error(`--${name} ${text}: not a whole number from ${least}.`);
}
