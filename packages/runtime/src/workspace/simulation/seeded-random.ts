/** A random number generator that depends only on its seed, so that a failure can be reproduced. */
export interface Random {
  /** Returns an integer of at least 0 that is lower than `limit`. */
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
}

/** Creates a generator. The seeds are mixed, so that neighbouring seeds give unrelated numbers. */
export function seededRandom(...seeds: readonly number[]): Random {
  let state = 0x9e3779b9;
  for (const seed of seeds) state = mix(state ^ Math.imul(seed + 1, 0x85ebca6b));
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    return mix(state) >>> 0;
  };
  return {
    below: (limit) => next() % limit,
    chance: (probability) => next() / 2 ** 32 < probability,
    pick<T>(choices: readonly T[]): T {
      const index = next() % choices.length;
      // The cast is safe unless `choices` is empty, which is an error of the caller.
      return choices[index] as T;
    },
  };
}

function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return mixed ^ (mixed >>> 15);
}
