/** Stored bytes in memory, for an agent without a store and for tests. */
import type { AgentAddress } from '@goondan/types';
import { sha256 } from '../json/sha256.ts';
import type { BlobOwner, Blobs } from './blobs.ts';
import { unknownFile } from './unknown-file.ts';

export function memoryBlobs(): Blobs {
  const data = new Map<string, Uint8Array>();
  const uses = new Map<string, Set<string>>();
  const usesOf = (owner: BlobOwner) => {
    const name = nameOf(owner);
    const found = uses.get(name) ?? new Set();
    uses.set(name, found);
    return found;
  };
  const removeUnused = () => {
    const used = new Set([...uses.values()].flatMap((digests) => [...digests]));
    for (const digest of data.keys()) if (!used.has(digest)) data.delete(digest);
  };
  return {
    async put(owner, bytes) {
      const digest = sha256(bytes);
      usesOf(owner).add(digest);
      data.set(digest, bytes.slice());
      return digest;
    },
    async use(owner, digests) {
      for (const digest of digests) {
        if (!data.has(digest)) throw unknownFile(digest);
        usesOf(owner).add(digest);
      }
    },
    named: async () => undefined,
    get: async (digest) => data.get(digest)?.slice(),
    findLost: async () => [],
    size: async (digest) => data.get(digest)?.length,
    async release(owner) {
      uses.delete(nameOf(owner));
      removeUnused();
    },
    async share(from: AgentAddress, to: AgentAddress) {
      for (const digest of usesOf(from)) usesOf(to).add(digest);
    },
    sweep: async () => removeUnused(),
  };
}

function nameOf(owner: BlobOwner): string {
  return JSON.stringify('upload' in owner ? [owner.upload] : [owner.agentName, owner.instanceKey]);
}
