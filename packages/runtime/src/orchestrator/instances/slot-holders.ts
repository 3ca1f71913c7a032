/** The processes of agents as holders of slots. A shared process holds one slot, for all conversations in it. */
import type { ProcessCondition, SlotHolder } from '../supervision/process-slots.ts';

/** An instance with a process. */
export interface HoldingInstance extends SlotHolder {
  /** The shared process in which it has a seat. */
  readonly shared?: object;
}

export interface HeldSlots {
  readonly holders: readonly SlotHolder[];
  /** Returns the instances whose process is that of the holder with this key. */
  readonly membersOf: (key: string) => readonly HoldingInstance[];
}

/** Puts the conversations of each shared process together. The holder has the key of the first of them. */
export function slotsOf(instances: readonly HoldingInstance[]): HeldSlots {
  const holders: SlotHolder[] = [];
  const members = new Map<object, HoldingInstance[]>();
  for (const each of instances) {
    if (each.shared === undefined) {
      holders.push(each);
      continue;
    }
    const seats = members.get(each.shared);
    if (seats === undefined) members.set(each.shared, [each]);
    else seats.push(each);
  }
  const byKey = new Map<string, readonly HoldingInstance[]>();
  for (const seats of members.values()) {
    const holder = together(seats);
    if (holder === undefined) continue;
    holders.push(holder);
    byKey.set(holder.key, seats);
  }
  // Few holders are asked for, and many instances may be open.
  return { holders, membersOf: (key) => byKey.get(key) ?? instances.filter((each) => each.key === key) };
}

/** Chooses idle conversations, longest idle first, so that with those that end already `wanted` seats become free. */
export function seatsToClear(seats: readonly HoldingInstance[], wanted: number): readonly HoldingInstance[] {
  const stopping = seats.filter(({ condition }) => condition === 'stopping').length;
  const idle = seats.filter(({ condition }) => condition === 'idle');
  idle.sort((left, right) => (left.idleSince ?? 0) - (right.idleSince ?? 0));
  return idle.slice(0, Math.max(0, wanted - stopping));
}

/**
 * Conditions in the order in which they decide: a process works if one conversation works, and is idle if all others are
 * idle or about to end.
 */
const deciding: readonly ProcessCondition[] = ['working', 'starting', 'waiting', 'held', 'idle', 'stopping'];

function together(seats: readonly HoldingInstance[]): SlotHolder | undefined {
  const [first] = seats;
  const condition = deciding.find((each) => seats.some((seat) => seat.condition === each));
  if (first === undefined || condition === undefined) return undefined;
  if (condition !== 'idle') return { key: first.key, condition };
  return { key: first.key, condition, idleSince: Math.max(...seats.map(({ idleSince = 0 }) => idleSince)) };
}
