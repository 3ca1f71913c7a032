/**
 * Deliberate mistakes, as patches of the store and of the nodes. The simulation must catch every one. If a mutant survives,
 * the rule that it breaks has no test.
 */
export interface Mutant {
  readonly name: string;
  /** The path relative to `packages/postgres/src`. */
  readonly file: string;
  /** The text to replace; it occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** If true, the mutant is tried with every test run. */
  readonly isQuick?: true;
}

const log = 'store/conversation-log.ts';
const append = 'store/append-statement.ts';
const checkpoint = 'store/checkpoint-statement.ts';
const accept = 'store/accept-statement.ts';
const claim = 'nodes/claim-rows.ts';
const nodes = 'nodes/node-rows.ts';

const fences: readonly Mutant[] = [
  {
    name: 'append frames without the fence',
    file: append,
    find: 'and owner = $4 and epoch = $5 and last_seq = $6',
    replace: `\${commit ? 'and owner = $4 and epoch = $5' : 'and $4::text is not null and $5::bigint > 0'} and last_seq = $6`,
  },
  {
    name: 'commit without the fence',
    file: append,
    find: 'and owner = $4 and epoch = $5 and last_seq = $6',
    replace: `\${commit ? 'and $4::text is not null and $5::bigint > 0' : 'and owner = $4 and epoch = $5'} and last_seq = $6`,
    isQuick: true,
  },
  {
    name: 'replace a checkpoint without the fence',
    file: checkpoint,
    find: 'and owner = $4 and epoch = $5 and checkpoint_seq < $6',
    replace: 'and $4::text is not null and $5::bigint > 0 and checkpoint_seq < $6',
  },
  {
    name: 'delete an instance without the fence',
    file: 'store/admin-statements.ts',
    find: 'and owner = $4 and epoch = $5 and last_input =',
    replace: 'and $4::text is not null and $5::bigint > 0 and last_input =',
  },
  {
    name: 'accept without the lease of the connection',
    file: accept,
    find: "`${HAS_CONNECTION('$12', '$9', '$13')} for share`",
    replace:
      "'select 1 from gdn_connection where swarm = $1 and connection = $12 and $9::text is not null and $13::bigint > 0 for share'",
  },
  {
    name: 'write the folder of a connection without the lease',
    file: 'nodes/connection-leases.ts',
    find: `const IS_OWN = 'swarm = $1 and connection = $2 and owner = $3 and epoch = $4';`,
    replace: `const IS_OWN = 'swarm = $1 and connection = $2 and $3::text is not null and $4::bigint > 0';`,
  },
  {
    name: 'release an instance that another node owns',
    file: claim,
    find: 'where swarm = $1 and owner = $2 and agent = $3 and key = $4 and epoch = $5',
    replace: 'where swarm = $1 and $2::text is not null and agent = $3 and key = $4 and $5::bigint > 0',
  },
  {
    name: 'free the instances of all nodes at the end of a lease',
    file: nodes,
    find: 'update gdn_instance set owner = null where swarm = $1 and owner = $2\n)',
    replace: 'update gdn_instance set owner = null where swarm = $1\n)',
  },
];

const leases: readonly Mutant[] = [
  {
    name: 'claim without a higher epoch',
    file: claim,
    find: 'on conflict (swarm, agent, key) do update set owner = $2, epoch = greatest(i.epoch + 1, ${MILLISECONDS})',
    replace: 'on conflict (swarm, agent, key) do update set owner = $2, epoch = i.epoch',
    isQuick: true,
  },
  {
    name: 'claim without a look at the lease of the owner',
    file: claim,
    find: `where \${isFree('i')}`,
    replace: 'where true',
  },
  {
    name: 'claim a connection without a look at the lease of the owner',
    file: claim,
    find: `where \${isFree('c')}`,
    replace: 'where true',
  },
  {
    name: 'claim with an own lease that has ended',
    file: claim,
    find: 'where swarm = $1 and id = $2 and lease_until > clock_timestamp() for key share',
    replace: 'where swarm = $1 and id = $2 for key share',
  },
  {
    name: 'renew a lease that has ended',
    file: nodes,
    find: 'where swarm = $1 and id = $2 and lease_until > clock_timestamp()\n  returning',
    replace: 'where swarm = $1 and id = $2\n  returning',
  },
  {
    name: 'renew a lease by the clock of the node, which is late',
    file: nodes,
    find: 'where swarm = $1 and id = $2 and lease_until > clock_timestamp()\n  returning',
    replace: 'where swarm = $1 and id = $2 and lease_until > to_timestamp(${Date.now() / 1000 - 3600})\n  returning',
  },
  {
    name: 'take a lease as ended by the clock of the node, which is early',
    file: claim,
    find: 'n.lease_until <= now())`',
    replace: 'n.lease_until <= to_timestamp(${Date.now() / 1000 + 7200}))`',
  },
  {
    name: 'trust in wake-ups, and take over nothing that a scan finds',
    file: 'nodes/wake-ups.ts',
    find: 'this.#takeOver([...unclaimed, ...free]);',
    replace: 'this.#takeOver(unclaimed);',
  },
];

const writes: readonly Mutant[] = [
  {
    name: 'keep frames in memory that must be durable',
    file: log,
    find: 'if (frame.isDurable || frame.commit !== undefined ||',
    replace: 'if (frame.commit !== undefined ||',
  },
  {
    name: 'load without the frames in memory',
    file: log,
    find: 'await this.settle(instance).catch(() => undefined);\n    return this.#inTurn',
    replace: 'return this.#inTurn',
  },
  {
    name: 'leave the input of a committed turn pending',
    file: append,
    find: 'set pending = false, event = null, cancelled = null from own',
    replace: 'set cancelled = null from own',
  },
  {
    name: 'forget the ids of handled events',
    file: append,
    find: 'and input.seq <= $15 - ${REMEMBERED_EVENTS} and input.seq > old.handled - ${REMEMBERED_EVENTS}',
    replace: 'and input.seq < $15',
  },
  {
    name: 'leave the number of handled input as it was',
    file: append,
    find: 'handled = greatest(handled, $15::bigint),',
    replace: '',
  },
  {
    name: 'add the answer although the commit was refused',
    file: append,
    find: 'select $1, $2, $3, $18, $7, $19, $20, $21 from own',
    replace: 'select $1, $2, $3, $18, $7::bigint, $19, $20, $21',
  },
  {
    name: 'write a frame again when its answer was lost',
    file: append,
    find: 'and owner = $4 and epoch = $5 and last_seq = $6',
    replace: 'and owner = $4 and epoch = $5 and $6::bigint >= 0',
  },
  {
    name: 'take another frame of the same number for the own one',
    file: append,
    find: 'and kept.seq = frame.seq and kept.line = frame.line',
    replace: 'and kept.seq = frame.seq',
    isQuick: true,
  },
  {
    name: 'take a frame that was written before for one of another writer',
    file: log,
    find: 'if (outcome.are_there) return;',
    replace: '',
  },
  {
    name: 'ignore the attempt of an accept',
    file: 'store/inbox.ts',
    find: 'if (attempt === own) return',
    replace: `if (attempt === own && own === '') return`,
  },
  {
    name: 'number an event again that is known',
    file: accept,
    find: 'where not exists (select from known) and octet_length',
    replace: 'where octet_length',
  },
  {
    name: 'give up a statement whose connection was cut',
    file: 'driver/repeat.ts',
    find: '|| !mayRepeat()) throw error;',
    replace: '|| mayRepeat()) throw error;',
  },
  {
    name: 'move a frame after the checkpoint to the archive',
    file: checkpoint,
    find: 'and frame.last <= $6',
    replace: 'and frame.last <= $6 + 1',
  },
  {
    name: 'lose the part of the base that a checkpoint adds',
    file: checkpoint,
    find: `from own where $8 <> ''`,
    replace: `from own where $8 = 'nothing'`,
    isQuick: true,
  },
  {
    name: 'keep the old base beside the one that replaces it',
    file: checkpoint,
    find: `\${base === 'rewrite' ? REPLACED : ''}`,
    replace: `\${base === 'rewrite' && REPLACED === '' ? REPLACED : ''}`,
  },
  {
    name: 'drop the frames that a checkpoint includes instead of archiving them',
    file: checkpoint,
    find: `from moved having count(*) > 0`,
    replace: `from moved having count(*) < 0`,
  },
  {
    name: 'delete an instance and leave its archive',
    file: 'store/admin-statements.ts',
    find: `  'gdn_archive',`,
    replace: '',
  },
];

const order: readonly Mutant[] = [
  {
    name: 'begin a turn before earlier input is handled',
    file: append,
    find: 'and last_seq = $6 and not ${early}',
    replace: 'and last_seq = $6',
  },
  {
    name: 'skip a number of input',
    file: accept,
    find: 'set last_input = row.last_input + 1, pending_bytes',
    replace: 'set last_input = row.last_input + 2, pending_bytes',
  },
  {
    name: 'queue own input at once, whatever other nodes accepted before',
    file: 'simulation/simulated-queue.ts',
    find: 'if (numbers?.last !== seq - 1) return false;',
    replace: 'if (numbers === undefined) return false;',
  },
];

const steering: readonly Mutant[] = [
  {
    name: 'leave the input pending that a turn took',
    file: append,
    find: 'const IS_ENDED = `(input.seq <= $15 or input.seq = any ($16::text::bigint[]))`;',
    replace: 'const IS_ENDED = `(input.seq <= $15 or cardinality($16::text::bigint[]) < 0)`;',
  },
  {
    name: 'end all input up to one that a turn took',
    file: append,
    find: 'const IS_ENDED = `(input.seq <= $15 or input.seq = any ($16::text::bigint[]))`;',
    replace: 'const IS_ENDED = `(input.seq <= $15 or input.seq <= any ($16::text::bigint[]))`;',
  },
  {
    name: 'take a turn that ends input for one that begins too early',
    file: append,
    find: `isEarly(commit ? '$17::bigint' : begins ? FIRST_BEGUN : undefined)`,
    replace: `isEarly(commit ? 'coalesce($17::bigint, 0) + $15::bigint' : begins ? FIRST_BEGUN : undefined)`,
  },
];

export const mutants: readonly Mutant[] = [...fences, ...leases, ...writes, ...order, ...steering];
