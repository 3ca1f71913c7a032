import type { KeptOut } from '@goondan/runtime/internal';
import type { ClusterAccess } from './cluster-access.ts';
import { passwordsIn } from './store-address.ts';

/** A shorter password, or one that is a word, could be in a file by chance. */
const PASSWORD = /^(?![a-z]*$).{8,}$/is;

/**
 * Returns the files and texts of a bundle folder that are never deployed: the token, the password of the database, and the
 * files that they come from. `paths`: further files and folders.
 *
 * **Errors** — `E_CLUSTER_TOKEN`.
 */
export function keptOutOf(cluster: Pick<ClusterAccess, 'secrets' | 'token'>, paths: readonly string[]): KeptOut {
  const { address, files } = cluster.secrets;
  const passwords = passwordsIn(address).flatMap((each) => [`:${each}@`, ...(PASSWORD.test(each) ? [each] : [])]);
  return { paths: [...paths, ...files], secrets: [cluster.token(), ...passwords] };
}
