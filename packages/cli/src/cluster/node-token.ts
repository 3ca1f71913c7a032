import { GoondanError } from '@goondan/types';
import type { ClusterAccess } from './cluster-access.ts';

/**
 * Returns the token of a node that starts. A node passes requests on to others, so a wrong token would leave it alone
 * without a word. **Errors** — `E_CLUSTER_TOKEN` when no token is set, when the store does not have it, or when it may only
 * read; those of the store.
 */
export async function nodeToken(cluster: Pick<ClusterAccess, 'token' | 'open'>): Promise<string> {
  const token = cluster.token();
  const owner = await (await cluster.open()).tokens.check(token);
  if (owner?.scope === 'operate') return token;
  const message =
    owner === undefined
      ? 'The store does not have the token of GOONDAN_CLUSTER_TOKEN.'
      : `The token "${owner.name}" in GOONDAN_CLUSTER_TOKEN has the scope read, and a node needs the scope operate.`;
  throw new GoondanError('E_CLUSTER_TOKEN', message, { suggestion: 'Make one with `gdn store token add NAME`.' });
}
