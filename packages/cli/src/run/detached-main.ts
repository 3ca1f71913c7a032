/** The process that `gdn run --detach` starts. Its parent has already checked trust. */
import { writeSync } from 'node:fs';
import { GoondanError, type TurnError } from '@goondan/types';
import { readClusterAccess } from '../cluster/cluster-access.ts';
import { delayCompiling } from '../delay-compiling.ts';
import { openTerminal } from '../terminal.ts';
import { prepareRun, type RunRequest } from './prepare-run.ts';
import { serve, type ServedSwarm } from './serve.ts';

/** A line on the standard output of this process. The last one has the outcome. */
export type Said = { readonly waits: string } | { readonly served: ServedSwarm } | { readonly error: TurnError };

if (import.meta.main) void main(process.argv[2] ?? '');

/** The only argument of this process is the request, as JSON. */
async function main(argument: string): Promise<void> {
  delayCompiling();
  // The cast is safe: `detach.ts` wrote the argument.
  const request = JSON.parse(argument) as RunRequest;
  // Discards the output, which could grow for years without being read; the swarm's messages are in its log.
  const silent = openTerminal({ stdout: { write: nothing }, stderr: { write: nothing }, env: {} });
  // A swarm on files must not become a node because of a variable: `gdn run` has read it, and decided.
  const cluster = request.isNode === true ? readClusterAccess(request.store, process.env, 'gdn run') : undefined;
  try {
    const run = await prepareRun({ ...request, ...(cluster && { cluster }) }, silent);
    const onWait = (waits: string) => say({ waits });
    process.exitCode = await serve(run, silent, (served) => say({ served }), onWait);
  } catch (error) {
    process.exitCode = 1;
    if (!GoondanError.is(error)) throw error;
    const { code, message, suggestion } = error;
    say({ error: { code, message, suggestion } });
  } finally {
    await cluster?.close();
  }
}

/** Does not use `process.stdout`, which would raise an error once nobody reads it. */
function say(said: Said): void {
  writeSync(1, `${JSON.stringify(said)}\n`);
}

function nothing(): void {}
