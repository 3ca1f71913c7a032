import { GoondanError } from '@goondan/types';
import type { ClusterAccess } from './cluster-access.ts';

export interface OperatingToken {
  readonly token: string;
  /** The name of the token in the store. */
  readonly name: string;
}

/**
 * Returns the token of a node or a command that changes something. A node passes requests on to others, so a wrong token
 * would leave it alone without a word. A command may have the right to write to the database, but its token decides.
 * `user`: the node or the command, for messages.
 *
 * **Errors** — `E_CLUSTER_TOKEN` when no token is set, when the store does not have it, or when it may only read; those of
 * the store, which come first.
 */
export async function operatingToken(
  cluster: Pick<ClusterAccess, 'token' | 'open'>,
  user: string,
): Promise<OperatingToken> {
  const store = await cluster.open();
  const token = cluster.token();
  const owner = await store.tokens.check(token);
  if (owner?.scope === 'operate') return { token, name: owner.name };
  if (!(await store.tokens.list()).some(({ scope }) => scope === 'operate')) {
    const suggestion = '`gdn store init` makes a first token again.';
    throw new GoondanError('E_CLUSTER_TOKEN', 'The store has no token that may operate.', { suggestion });
  }
  const message =
    owner === undefined
      ? 'The store does not have the token of GOONDAN_CLUSTER_TOKEN.'
      : `The token "${owner.name}" in GOONDAN_CLUSTER_TOKEN has the scope read, and ${user} needs the scope operate.`;
  throw new GoondanError('E_CLUSTER_TOKEN', message, {
    suggestion: 'Somebody with such a token makes another one with `gdn store token add NAME`.',
  });
}
