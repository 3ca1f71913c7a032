/**
 * Loads the connector of a connection in a separate process, to test whether it can start, and ends the process. The
 * connector function is not called, because two processes cannot listen on one port, and events would arrive twice. But
 * the top level of its module does run.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectionPlan } from '../../config/swarm-plan.ts';
import { fromFrameError } from '../../ipc/check/frame-error.ts';
import { connectorLanguage } from '../../ipc/codec.ts';
import type { FromConnector } from '../../ipc/from-connector.ts';
import type { ToConnector } from '../../ipc/to-connector.ts';
import { maskSecrets } from '../../log/mask-secrets.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LogLine } from '../../ports/log-line.ts';
import type { ChildOutput, Spawn } from '../../ipc/spawn.ts';
import { maskOutput } from '../child/child-output.ts';
import { connectorRunner } from '../../ports/runner-path.ts';
import type { Plan } from '../plan/current-plan.ts';
import { awaitAnswer } from '../supervision/await-answer.ts';
import { toStart } from './kept-connection.ts';

export interface ConnectionTrial {
  readonly spawn: Spawn;
  readonly clock: Clock;
  /** An existing folder, in which the trial creates a temporary folder. */
  readonly folder: string;
  readonly entryAgent: string;
  readonly settings: Pick<Plan['settings'], 'heartbeat' | 'supervision'>;
  /** Aborting it ends the trial early, with `E_CANCELLED`. */
  readonly signal: AbortSignal;
  /** Receives the output of the process. Must not throw. */
  readonly onOutput: (output: ChildOutput) => void;
  readonly onLog: (line: LogLine) => void;
}

/** Runs the trial. **Errors** — those of `awaitAnswer`, and those of loading a connector. */
export async function tryConnection(plan: ConnectionPlan, trial: ConnectionTrial): Promise<void> {
  const { spawn, clock, settings, signal } = trial;
  const { connection, environment, secrets, masked = [] } = plan;
  const mask = maskSecrets([...Object.values(secrets), ...masked]);
  const name = `connection ${connection}`;
  const folder = mkdtempSync(join(trial.folder, 'goondan-connection-'));
  try {
    const work = join(folder, 'cwd');
    mkdirSync(work, { mode: 0o700 });
    const child = spawn(connectorLanguage, {
      name,
      runner: connectorRunner,
      frameFolder: join(folder, 'frames'),
      args: [work],
      ...(environment === undefined ? {} : { environment }),
      onOutput: (output) => trial.onOutput(maskOutput(output, mask)),
    });
    const { heartbeat, supervision } = settings;
    try {
      await awaitAnswer<true, ToConnector, FromConnector>(
        child,
        { ...toStart(plan, trial.entryAgent), isTrial: true },
        { name, clock, heartbeat, timeoutMs: supervision.startTimeoutMs, signal, mask },
        (message) => {
          if (message.type === 'failed') throw fromFrameError(message.error);
          if (message.type === 'log') trial.onLog(message.line);
          return message.type === 'ready' ? true : undefined;
        },
      );
    } finally {
      await child.kill(0);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
