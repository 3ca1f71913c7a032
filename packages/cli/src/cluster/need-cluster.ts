import { GoondanError } from '@goondan/types';
import type { StoreOptions } from '../common-options.ts';
import type { ClusterAccess } from './cluster-access.ts';

/** Returns the store of a command that works on nothing else. **Errors** — `E_STORE_ADDRESS` when none is named. */
export function needCluster({ cluster }: StoreOptions): ClusterAccess {
  if (cluster !== undefined) return cluster;
  throw new GoondanError('E_STORE_ADDRESS', 'No store is named.', {
    suggestion: 'Add `--store postgres://user@host/database`, or set GOONDAN_STORE.',
  });
}
