/** The operating systems a swarm can run on; docs/platforms.md describes their differences. */
import { GoondanError } from '@goondan/types';

const supported: readonly string[] = ['linux', 'darwin'];

/** Throws `E_PLATFORM` on every other system: a swarm needs the processes, sockets and locks of these. */
export function checkPlatform(platform: string): void {
  if (!supported.includes(platform)) throw new GoondanError('E_PLATFORM', `Goondan does not run on ${platform}.`);
}
