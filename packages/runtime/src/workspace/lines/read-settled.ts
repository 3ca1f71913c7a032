/**
 * Reads the files of an instance while its owner may change them. A read without a lock can meet one file before a change
 * and the next file after it, and that looks like damage. So damage counts when a second read finds it again, and nothing
 * has changed since the first one found it. A read without damage costs nothing more.
 */
import { dirname } from 'node:path';
import type { StoredInstance } from '../layout/instance-paths.ts';

type Place = Omit<StoredInstance, 'address' | 'limits'>;

/** Thrown at the place of the damage, so that the files are read again. */
class Unsettled extends Error {}

/** After this many reads damage counts, even if the files still change. */
const MOST_READS = 20;

/** Calls `read` until its damage is certain. `read` must pass on the place that it gets. **Errors** — those of `read`. */
export async function readSettled<Given extends Place, Value>(
  place: Given,
  read: (place: Given) => Promise<Value>,
): Promise<Value> {
  for (const nextPlace = confirming(place); ;) {
    try {
      return await read(nextPlace());
    } catch (error) {
      if (!(error instanceof Unsettled) || place.confirm) throw error;
    }
  }
}

/** Like `readSettled`, for a read that yields values. When it is called again, it has to go on after the last one. */
export async function* yieldSettled<Given extends Place, Value>(
  place: Given,
  read: (place: Given) => AsyncGenerator<Value>,
): AsyncGenerator<Value> {
  for (const nextPlace = confirming(place); ;) {
    try {
      return yield* read(nextPlace());
    } catch (error) {
      if (!(error instanceof Unsettled) || place.confirm) throw error;
    }
  }
}

/** Returns a function that returns the place for the next read. */
function confirming<Given extends Place>(place: Given): () => Given {
  // This read is a part of another one, which is repeated as a whole.
  if (place.confirm) return () => place;
  const found = new Set<string>();
  let reads = 0;
  const confirm = async (path: string, problem: string) => {
    const finding = await describe(place, path, problem);
    if (found.has(finding) || reads >= MOST_READS) return;
    found.add(finding);
    throw new Unsettled();
  };
  return () => {
    reads += 1;
    return { ...place, confirm };
  };
}

/** Returns a text that is the same only while the instance and the damaged file stay as they are. */
async function describe({ fs, paths }: Place, path: string, problem: string): Promise<string> {
  const places = [paths.folder, paths.messages, paths.metadata, dirname(path), path];
  const stats = await Promise.all(places.map((each) => fs.stat(each)));
  return JSON.stringify([path, problem, ...stats.map((stat) => stat ?? null)]);
}
