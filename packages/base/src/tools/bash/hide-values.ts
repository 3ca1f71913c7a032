/** Masks values in a stream of bytes, even when a value is split between two chunks. */

/** Shorter values are not masked, because replacing them would damage ordinary text. */
const SHORTEST = 8;
const HIDDEN = Buffer.from('***');

export function hideValues(values: readonly string[]) {
  // Longest first, so that a value which contains another value is replaced as a whole.
  const wanted = values
    .filter((value) => value.length >= SHORTEST)
    .map((value) => Buffer.from(value))
    .toSorted((a, b) => b.length - a.length);
  const longest = wanted[0]?.length ?? 1;
  let held = Buffer.alloc(0);
  return {
    /** Returns the text that is safe to pass on: it contains no part of a value. */
    push: (chunk: Uint8Array) => take(Buffer.concat([held, chunk]), longest - 1),
    /** Returns the rest of the text. */
    end: () => take(held, 0),
  };

  /** Masks the values in `bytes`. Holds back the last `open` bytes, because a value may begin there. */
  function take(bytes: Buffer, open: number): Buffer<ArrayBuffer> {
    const limit = bytes.length - open;
    const pieces: Buffer[] = [];
    let from = 0;
    for (let found = findFirst(bytes, from, limit); found !== undefined; found = findFirst(bytes, from, limit)) {
      pieces.push(bytes.subarray(from, found.at), HIDDEN);
      from = found.at + found.length;
    }
    const to = Math.max(from, limit);
    held = Buffer.from(bytes.subarray(to));
    return Buffer.concat([...pieces, bytes.subarray(from, to)]);
  }

  function findFirst(bytes: Buffer, from: number, limit: number): { at: number; length: number } | undefined {
    let first: { at: number; length: number } | undefined;
    for (const value of wanted) {
      const at = bytes.indexOf(value, from);
      if (at !== -1 && at < Math.min(limit, first?.at ?? limit)) first = { at, length: value.length };
    }
    return first;
  }
}
