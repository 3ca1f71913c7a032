import type { Swarm } from '@goondan/runtime';
import { GoondanError } from '@goondan/types';
import { reportFailure } from '../report-error.ts';
import { describeReload } from '../swarm/describe-reload.ts';
import type { Terminal } from '../terminal.ts';
import type { PreparedRun } from './prepare-run.ts';

/**
 * Starts to watch the bundle if `--watch` was given. Returns a function that stops watching. **Errors** — `E_WATCH`.
 */
export async function followBundle(
  run: PreparedRun,
  swarm: Pick<Swarm, 'reload'>,
  terminal: Terminal,
): Promise<() => void> {
  if (run.watch !== true) return () => undefined;
  const { watchBundle } = await import('../watch/watch-bundle.ts');
  return watchBundle({
    folder: run.bundle.folder,
    stateRoot: run.stateRoot,
    reload: () => swarm.reload(),
    onReloaded: (changes) => terminal.printError(describeReload(changes)),
    onTakenBack: () => terminal.printError('The bundle no longer has errors; nothing has changed.\n'),
    // The log, which the terminal shows, already says why a reload was refused. But it does not say that watching has
    // ended.
    onRefused: (error) => {
      if (GoondanError.is(error) && error.code === 'E_WATCH') reportFailure(error, terminal);
    },
  });
}
