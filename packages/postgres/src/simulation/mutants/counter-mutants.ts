/** Deliberate mistakes in the counters. The simulation of counters must catch every one. */
import type { Mutant } from './mutants.ts';

const statements = 'store/counter-statements.ts';
const counters = 'store/counters.ts';

export const counterMutants: readonly Mutant[] = [
  {
    name: 'the reservations of a lost node stay',
    file: counters,
    find: 'owner !== node && !living.has(owner)',
    replace: 'owner !== node && owner === node && !living.has(owner)',
  },
  {
    name: 'a state is written over a newer one',
    file: statements,
    find: 'and given.version = kept.version',
    replace: 'and given.version >= 0',
  },
  {
    name: 'a call begins without its reservation',
    file: counters,
    find: 'if (!hasBegun) throw notTheOwner(instance);',
    replace: 'if (!hasBegun) return;',
  },
  {
    name: 'a node without a lease writes states',
    file: statements,
    find: 'and lease_until > clock_timestamp()',
    replace: 'and lease_until is not null',
  },
];
