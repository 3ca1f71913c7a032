/** The process that `gdn run --detach` starts. Its parent has already checked trust. */
import { writeSync } from 'node:fs';
import { GoondanError, type TurnError } from '@goondan/types';
import { openTerminal } from '../terminal.ts';
import { prepareRun } from './prepare-run.ts';
import { serve, type ServedSwarm } from './serve.ts';

/** The only argument of this process, as JSON. */
export interface DetachedRun {
  readonly folder: string;
  readonly swarm: string;
  readonly stateRoot: string;
  readonly workdir: string;
  readonly watch: boolean;
  readonly flock: boolean;
}

/** The only line on the standard output of this process. */
export type Said = { readonly served: ServedSwarm } | { readonly error: TurnError };

if (import.meta.main) await main(process.argv[2] ?? '');

async function main(argument: string): Promise<void> {
  // The cast is safe: `detach.ts` wrote the argument.
  const run = JSON.parse(argument) as DetachedRun;
  // Discards the output, which could grow for years without being read; the swarm's messages are in its log.
  const silent = openTerminal({ stdout: { write: nothing }, stderr: { write: nothing }, env: {} });
  try {
    process.exitCode = await serve(await prepareRun({ ...run, trust: true }, silent), silent, (served) =>
      say({ served }),
    );
  } catch (error) {
    process.exitCode = 1;
    if (!GoondanError.is(error)) throw error;
    const { code, message, suggestion } = error;
    say({ error: { code, message, suggestion } });
  }
}

/** Does not use `process.stdout`, which would raise an error once nobody reads it. */
function say(said: Said): void {
  writeSync(1, `${JSON.stringify(said)}\n`);
}

function nothing(): void {}
