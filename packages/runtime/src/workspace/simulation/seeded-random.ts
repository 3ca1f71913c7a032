/** The same numbers for the same seed, always: what makes a failure replayable. */
export interface Random {
  /** From 0 up to, and without, `limit`. */
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
}

/** Seeds are mixed, so that neighbours have nothing in common. */
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
      // In range, unless there is nothing to pick from, which is the caller's mistake.
      return choices[index] as T;
    },
  };
}

function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return mixed ^ (mixed >>> 15);
}
