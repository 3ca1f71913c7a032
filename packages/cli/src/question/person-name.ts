import { spawnSync } from 'node:child_process';
import { userInfo } from 'node:os';

/** The name that Bun gives for everybody if `$USER` is not set, as in most containers. */
const NOBODY = 'unknown';

/** Returns the name of the user of this process, under which an answer is recorded. */
export function personName(): string {
  const { username } = userInfo();
  if (username !== NOBODY && username !== '') return username;
  const { stdout } = spawnSync('id', ['-un'], { encoding: 'utf8' });
  // `stdout` is `null` if the command does not exist. A container may also run under a number without a name.
  return (stdout as string | null)?.trim() || `uid ${process.getuid?.() ?? 'none'}`;
}
