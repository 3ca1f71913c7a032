import type { PostgresBlobs } from '../store/blobs.ts';

/** The stored bytes of a swarm without files. */
export function noBlobs(): Pick<PostgresBlobs, 'share' | 'removeUnused'> {
  return { share: async () => undefined, removeUnused: async () => undefined };
}
