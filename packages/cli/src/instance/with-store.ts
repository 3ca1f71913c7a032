import type { DurableStoreOptions, StoreReader } from '@goondan/runtime/history';
import { openReader, type SwarmPlace } from '../swarm/swarm-place.ts';

/** `warn` is called with reports of damaged data; without `warn`, the reports go to standard error. */
export type StorePlace<Place = SwarmPlace> = Place & Pick<DurableStoreOptions, 'warn'>;

/**
 * Reads the store of a swarm, running or stopped, without a lock. If the swarm has never run, nothing is created, and the
 * result is `nothing`.
 *
 * **Errors** — those of `openReader` and of `read`.
 */
export async function withStore<Value>(
  place: StorePlace,
  nothing: Value,
  read: (store: StoreReader) => Promise<Value>,
): Promise<Value> {
  const store = await openReader(place);
  if (!(await store.directory.exists())) return nothing;
  try {
    return await read(store);
  } finally {
    await store.close();
  }
}
