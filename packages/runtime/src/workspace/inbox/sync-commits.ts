import type { StoredInstance } from '../layout/instance-paths.ts';

/** Makes the commits of an instance durable that were only read. Without it, their events must not leave the inbox log. */
export async function syncCommits({ fs, paths }: StoredInstance): Promise<void> {
  const log = (await fs.stat(paths.events)) && (await fs.openRoom(paths.events));
  try {
    await log?.sync();
  } finally {
    await log?.close();
  }
}
