/** Opens the questions of a stopped workspace, for a person who answers while no swarm runs. */
import { refuseUnused } from '../store/files/open-export.ts';
import { openStoredQuestions } from '../store/files/stored-file-questions.ts';
import type { StoredQuestions } from '../store/stored-questions.ts';
import { holdStopped, type StoppedSwarm } from './stopped-swarm.ts';

/**
 * Owns the workspace until `close`, so that no swarm can start meanwhile. The next start uses the answers.
 *
 * **Errors** — `E_SWARM_UNKNOWN` when no swarm ever ran there; `E_SWARM_RUNNING` while one runs, whose control socket takes
 * answers; those of the disk.
 */
export async function openQuestions(stopped: StoppedSwarm): Promise<StoredQuestions> {
  refuseUnused(stopped);
  const { stateRoot, workspaceId, warn } = stopped;
  const placement = await holdStopped(stopped);
  try {
    const place = { stateRoot, workspaceId, ...(warn && { warn }) };
    const opened = await openStoredQuestions({ ...place, fence: () => placement.check() });
    return {
      ...opened,
      async close() {
        await opened.close();
        await placement.leave();
      },
    };
  } catch (error) {
    await placement.leave();
    throw error;
  }
}
