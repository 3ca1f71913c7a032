/** The operating systems that a swarm can run on; docs/platforms.md describes their differences. */
import { GoondanError } from '@goondan/types';

const supported: readonly string[] = ['linux', 'darwin'];

/** Throws `E_PLATFORM` on any other system, because a swarm needs the processes, sockets and locks of these systems. */
export function checkPlatform(platform: string): void {
  if (!supported.includes(platform)) throw new GoondanError('E_PLATFORM', `Goondan does not run on ${platform}.`);
}
