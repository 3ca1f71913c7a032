/** Makes the keepers of a swarm. They are started later, by the agent processes that need them. */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { keeperSocketPath, systemSocketEnvironment } from '../control/control-socket-path.ts';
import { keeperRunner } from '../ports/runner-path.ts';
import { closeFolder } from './control/listen-privately.ts';
import { Keepers, type KeepersDeps } from './keepers/keepers.ts';

/** `runFolder`: the folder of this run, for sockets and long messages. */
export function openKeepers(
  runFolder: string,
  deps: Pick<KeepersDeps, 'spawn' | 'clock' | 'currentPlan' | 'log'>,
): Keepers {
  let sockets = 0;
  return new Keepers({
    ...deps,
    runner: keeperRunner,
    newFrameFolder: () => join(runFolder, crypto.randomUUID()),
    newSocket: () => {
      sockets += 1;
      const path = keeperSocketPath(runFolder, sockets, systemSocketEnvironment());
      closeFolder(dirname(path));
      return path;
    },
    makeSharedFolder: (agentName) => {
      const folder = join(runFolder, 'shared', agentName);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      return folder;
    },
  });
}
