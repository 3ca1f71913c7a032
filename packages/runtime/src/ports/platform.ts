/** The operating systems a swarm can run on; docs/platforms.md says what differs between them. */
import { GoondanError } from '@goondan/types';

const supported: readonly string[] = ['linux', 'darwin'];

/** Throws `E_PLATFORM` on every other system: its processes, sockets and locks are not the ones a swarm is built on. */
export function checkPlatform(platform: string): void {
  if (!supported.includes(platform)) throw new GoondanError('E_PLATFORM', `Goondan does not run on ${platform}.`);
}
