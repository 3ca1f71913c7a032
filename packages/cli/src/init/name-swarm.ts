/** Names the swarm of a new bundle after its folder: `My News` becomes `my-news`. */
import { basename } from 'node:path';

/** The maximum length of a resource's name. */
const LONGEST = 63;

/** Returns a name that every resource may have. A folder without a Latin letter or a digit gets `swarm`. */
export function nameSwarm(folder: string): string {
  const plain = basename(folder).normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const words = plain.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, '');
  const name = /^[a-z]/.test(words) ? words : `swarm-${words}`;
  return name.slice(0, LONGEST).replace(/-$/, '');
}
