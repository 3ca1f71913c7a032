/** Counters that each break one promise. A conformance suite that does not notice one of them is too weak. */
import type { Counters } from '../../store/counters.ts';
import type { MemorySwarm } from './memory-seams.ts';

interface BrokenCounters {
  readonly name: string;
  readonly break: (counters: Counters, swarm: MemorySwarm) => Counters;
}

export const brokenCounters: readonly BrokenCounters[] = [
  broken('every call fits', () => ({ reserve: async () => ({ status: 'reserved', marked: [] }) })),
  broken('a refused call keeps its first claims', (kept) => ({
    async reserve(at, { id, claims, ...rest }) {
      const [first, ...others] = claims;
      const begins = first && (await kept.reserve(at, { id, claims: [first], ...rest }));
      if (first === undefined || begins?.status !== 'reserved' || others.length === 0) return begins as never;
      const ends = await kept.reserve(at, { id, claims: others });
      return ends.status === 'refused' ? { ...ends, claim: ends.claim + 1 } : ends;
    },
  })),
  broken('a repeated reservation counts twice', (kept) => {
    let runs = 0;
    return { reserve: (at, made) => kept.reserve(at, { ...made, id: `${made.id} ${runs++}` }) };
  }),
  broken('a settled call keeps its reservation', () => ({ settle: async () => undefined })),
  broken('a call is settled with the reserved amount', (kept) => ({ settle: (made) => kept.settle(made, []) })),
  broken('a released call counts', (kept) => ({ release: (made) => kept.settle(made, []) })),
  broken('a call begins without its reservation', () => ({ begin: async () => undefined })),
  broken('the begun call of an ended process is released', (kept) => ({
    abandon: async (all) => void (await Promise.all(all.map((made) => kept.release(made)))),
  })),
  broken('the reserved call of an ended process is settled', (kept) => ({
    abandon: async (all) => void (await Promise.all(all.map((made) => kept.settle(made, [])))),
  })),
  broken('the reservations of an ended node stay', (_, swarm) => {
    swarm.nodes.delete = () => true;
    return {};
  }),
  broken('the begun calls of an ended node are released', (kept) => ({
    begin: async (at, all) => kept.begin(at, all.slice(1)),
  })),
  broken('a raised limit is lowered', (kept, swarm) => ({
    async raise(counter, to) {
      swarm.counters.delete(counter.counter);
      return kept.raise(counter, to);
    },
  })),
  broken('a limit is not raised', () => ({ raise: async () => true })),
  broken('the limit of a day that is over is raised', (kept) => ({
    raise: ({ day: _, ...counter }, to) => kept.raise(counter, to),
  })),
  broken('every soft claim above its limit is marked', (kept, swarm) => ({
    reserve(at, made) {
      for (const [counter, state] of swarm.counters) swarm.counters.set(counter, { ...state, isMarked: false });
      return kept.reserve(at, made);
    },
  })),
  broken('a soft claim is refused', (kept) => ({
    reserve: (at, made) =>
      kept.reserve(at, { ...made, claims: made.claims.map((each) => ({ ...each, isSoft: false })) }),
  })),
  broken('the first agent that asks is served', (kept) => ({
    reserve: (at, { turnOf: _, ...made }) => kept.reserve(at, made),
  })),
  broken('counters are not removed', () => ({ drop: async () => undefined })),
  broken('all counters are removed', (_, swarm) => ({ drop: async () => swarm.counters.clear() })),
  broken('another node may reserve', (kept, swarm) => ({
    async reserve(at, made) {
      swarm.owners.clear();
      return kept.reserve(at, made);
    },
  })),
  broken('the amounts of a minute do not count', (kept) => ({
    reserve: (at, made) =>
      kept.reserve(at, {
        ...made,
        claims: made.claims.map((each) => (each.window === 'minute' ? { ...each, window: 'call' } : each)),
      }),
  })),
];

function broken(name: string, change: (counters: Counters, swarm: MemorySwarm) => Partial<Counters>): BrokenCounters {
  return { name, break: (counters, swarm) => ({ ...counters, ...change(counters, swarm) }) };
}
