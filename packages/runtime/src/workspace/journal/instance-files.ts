/** The open files of one instance, for its only writer. */
import { advanceStart } from '../history/advance-start.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { AppendLog } from '../lines/append-log.ts';
import { RotatingLog } from '../lines/rotating-log.ts';
import { together } from '../lines/together.ts';

export interface InstanceFiles {
  readonly events: AppendLog;
  readonly turn: AppendLog;
  /** Replaced by a new file at each rewrite of the base. */
  base: AppendLog;
  readonly archive: RotatingLog;
}

/** Opens the files, and creates missing ones. */
export async function openInstanceFiles(stored: StoredInstance): Promise<InstanceFiles> {
  const { fs, paths, limits } = stored;
  const letGo = (oldest: string) => advanceStart(stored, oldest);
  return {
    events: await AppendLog.open(fs, paths.events),
    turn: await AppendLog.open(fs, paths.turn),
    base: await AppendLog.open(fs, paths.base),
    archive: await RotatingLog.open(fs, paths.archive, limits.archive, letGo),
  };
}

export async function closeInstanceFiles({ events, turn, base, archive }: InstanceFiles): Promise<void> {
  await together([events.close(), turn.close(), base.close(), archive.close()]);
}
