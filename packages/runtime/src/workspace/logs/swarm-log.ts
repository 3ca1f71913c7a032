/**
 * The log of a running swarm on disk, for people: one JSON object per line, in files of bounded size and number. Nothing
 * is synced: a power loss may lose the last lines, but no state.
 */
import { systemClock } from '../../ports/clock.ts';
import { systemFs } from '../../ports/fs.ts';
import { swarmLogPath, workspaceFolder, type StorePlace } from '../layout/instance-paths.ts';
import { LogBuffer } from './log-buffer.ts';
import { ReopenedLog } from './reopened-log.ts';

export const defaultSwarmLogLimits = {
  files: { bytes: 8 * 1024 * 1024, files: 4 },
  /** The maximum number of buffered characters; lines that would exceed it are dropped. */
  waiting: 1024 * 1024,
};

export const CHARACTERS_AT_ONCE = 64 * 1024;

/** Writes the log. The files are created at the first line. */
export class SwarmLog extends LogBuffer {
  /** Opens no file yet. `place.warn` is called once whenever the log becomes unwritable. */
  constructor(place: StorePlace, limits: typeof defaultSwarmLogLimits = defaultSwarmLogLimits) {
    const { stateRoot, workspaceId, fs = systemFs, clock = systemClock, warn } = place;
    const workspace = workspaceFolder(stateRoot, workspaceId);
    super(new ReopenedLog(fs, workspace, swarmLogPath(workspace), limits.files), {
      clock,
      waiting: limits.waiting,
      atOnce: Math.min(CHARACTERS_AT_ONCE, limits.files.bytes),
      warn: (warning) => warn?.(warning),
    });
  }
}
