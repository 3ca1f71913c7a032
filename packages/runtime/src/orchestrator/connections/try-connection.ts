/**
 * Loads a connection's connector in a process of its own, to see whether it could be started, and ends it. Its function is
 * not called: two cannot listen at one port, and what it hears would be heard twice. The top level of its module does run.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';
import type { ConnectionPlan } from '../../config/swarm-plan.ts';
import { fromFrameError } from '../../ipc/check/frame-error.ts';
import { connectorLanguage } from '../../ipc/codec.ts';
import { copyJsonObject } from '../../json/copy-json.ts';
import { maskSecrets } from '../../log/mask-secrets.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LogLine } from '../../ports/log-line.ts';
import type { ChildOutput, Spawn } from '../../ipc/spawn.ts';
import { maskOutput } from '../child/child-output.ts';
import { connectorRunner } from '../child/runner-path.ts';
import { toStart } from './kept-connection.ts';

export interface ConnectionTrial {
  readonly spawn: Spawn;
  readonly clock: Clock;
  /** Where its temporary folder is made. It exists. */
  readonly folder: string;
  readonly entryAgent: string;
  readonly timeoutMs: number;
  /** Ends it early, `E_CANCELLED`. */
  readonly signal: AbortSignal;
  /** None of these may throw. */
  readonly onOutput: (output: ChildOutput) => void;
  readonly onLog: (line: LogLine) => void;
}

/** **Errors** — `E_PROCESS_START` (also when it was not loaded in time), `E_CANCELLED`, those of loading a connector. */
export async function tryConnection(plan: ConnectionPlan, trial: ConnectionTrial): Promise<void> {
  const { spawn, clock, timeoutMs, signal } = trial;
  const { connection, environment, secrets, masked = [] } = plan;
  const mask = maskSecrets([...Object.values(secrets), ...masked]);
  const folder = mkdtempSync(join(trial.folder, 'goondan-connection-'));
  try {
    const work = join(folder, 'cwd');
    mkdirSync(work, { mode: 0o700 });
    const child = spawn(connectorLanguage, {
      name: `connection ${connection}`,
      runner: connectorRunner,
      frameFolder: join(folder, 'frames'),
      args: [work],
      ...(environment === undefined ? {} : { environment }),
      onOutput: (output) => trial.onOutput(maskOutput(output, mask)),
    });
    const loaded = Promise.withResolvers<void>();
    const fail = (problem: string) =>
      loaded.reject(new GoondanError('E_PROCESS_START', `The process of connection ${connection} ${problem}.`));
    const cancel = () => loaded.reject(new GoondanError('E_CANCELLED', `Connection "${connection}" was ended early.`));
    const callOff = clock.after(timeoutMs, () => fail(`was not ready within ${timeoutMs} ms`));
    child.channel.onMessage((message) => {
      if (message.type === 'ready') loaded.resolve();
      if (message.type === 'failed') loaded.reject(fromFrameError(message.error));
      if (message.type === 'log') trial.onLog(message.line);
    });
    void child.exited.then(({ code, signal: ending }) => fail(`ended before it was ready (${ending ?? code ?? '?'})`));
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    child.channel
      .send({ type: 'start', plan: copyJsonObject({ ...toStart(plan, trial.entryAgent), isTrial: true }) })
      .catch((error: unknown) => fail(`could not be told: ${String(error)}`));
    try {
      await loaded.promise;
    } finally {
      callOff();
      signal.removeEventListener('abort', cancel);
      await child.kill(0);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
