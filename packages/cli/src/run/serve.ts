/** Serves a swarm in the foreground, until it is stopped. */
import { GoondanError } from '@goondan/types';
import { defaultNodeName } from '../cluster/node-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { quoteForShell } from '../quote-for-shell.ts';
import { optionsElsewhere } from '../swarm/options-elsewhere.ts';
import { awaitConnections } from './await-connections.ts';
import { followBundle } from './follow-bundle.ts';
import { onStopSignal, type StopSignal } from '../stop-signals.ts';
import type { Terminal } from '../terminal.ts';
import { type PreparedRun, startRun } from './prepare-run.ts';
import type { OnWait } from './replace-one-shot.ts';

/** The output of `--json` when the swarm accepts input. Fields may be added, but are never renamed. */
export interface ServedSwarm {
  readonly pid: number;
  /** The folder of the workspace. */
  readonly workspace: string;
  readonly swarm: string;
  /** The version of Goondan that runs the swarm; absent when it is the version of this command. */
  readonly version?: string;
  /** The connections that do not listen yet, with the reason; absent when all listen. */
  readonly waiting?: readonly { readonly connection: string; readonly problem?: string }[];
}

/**
 * Resolves when the swarm is stopped, by a signal or by `gdn stop`. After a second signal, the swarm does not wait for
 * running turns.
 *
 * **Errors** — those of `startRun`. Then `onReady` is not called.
 */
export async function serve(
  run: PreparedRun,
  terminal: Terminal,
  onReady: (served: ServedSwarm) => void,
  onWait?: OnWait,
): Promise<ExitCode> {
  const asked = new AbortController();
  let first: StopSignal | undefined;
  let unwatch: () => void = () => undefined;
  let stop = () => {
    asked.abort();
  };
  const forget = onStopSignal((signal) => {
    first ??= signal;
    stop();
  });
  try {
    const options = { signal: asked.signal, isReported: () => false, ...(onWait && { onWait }) };
    const { control } = await startRun(run, terminal, options).catch((error: unknown) => {
      throw withCommands(error, run);
    });
    const stopSwarm = () => {
      // Ignores errors here, because `stopped` reports the outcome.
      control.stop().catch(() => undefined);
    };
    stop = () => {
      asked.abort();
      stopSwarm();
    };
    if (asked.signal.aborted) stopSwarm();
    const waiting = await awaitConnections(control, asked.signal);
    if (!asked.signal.aborted)
      onReady({ pid: process.pid, workspace: run.workspace, swarm: run.swarmName, ...describe(waiting) });
    unwatch = await followBundle(run, control, terminal);
    await control.stopped;
    if (control.failure !== undefined) return exitCodes.failure;
  } catch (error) {
    const isCancelled = GoondanError.is(error) && error.code === 'E_CANCELLED';
    if (!isCancelled || first === undefined || first === 'SIGINT') throw error;
  } finally {
    unwatch();
    forget();
  }
  return first === 'SIGINT' ? exitCodes.interrupted : exitCodes.ok;
}

/** Suggests commands for a swarm that another process runs. */
function withCommands(error: unknown, run: PreparedRun): unknown {
  if (!GoondanError.is(error) || error.code !== 'E_SWARM_RUNNING') return error;
  const options = optionsElsewhere(run).join(' ');
  // Without its name, all nodes would stop.
  const node = run.cluster === undefined ? '' : ` --node ${quoteForShell(run.node ?? defaultNodeName())}`;
  const suggestion = `Talk to it with \`gdn send ${options} --input TEXT --wait\`, or stop it with \`gdn stop ${options}${node}\`.`;
  return new GoondanError(error.code, error.message, { suggestion, cause: error });
}

function describe(waiting: Awaited<ReturnType<typeof awaitConnections>>): Pick<ServedSwarm, 'waiting'> {
  if (waiting.length === 0) return {};
  return {
    waiting: waiting.map(({ connection, problem }) => ({ connection, ...(problem === undefined ? {} : { problem }) })),
  };
}
