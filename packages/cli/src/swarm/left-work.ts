/** The work that a swarm has left for its next start, read from disk while the swarm does not run. */
import type { InstanceAddress } from '@goondan/runtime';
import { toInstanceAddress } from '@goondan/runtime/control';
import { GoondanError } from '@goondan/types';
import { harmlessText } from '../harmless-text.ts';
import { withStore } from '../instance/with-store.ts';
import { mapAtMost } from '../map-at-most.ts';
import type { Terminal } from '../terminal.ts';
import type { SwarmPlace } from './attach-swarm.ts';
import { boundedList } from './bounded-list.ts';

/** An item of `left` in `gdn status --json`. Fields may be added, but are never renamed. */
export interface LeftWork extends InstanceAddress {
  /** The number of accepted inputs that are not handled yet. */
  readonly inputs: number;
  readonly deadLetters: number;
}

/** Lists the instances that have work. Leaves out instances that cannot be read: `gdn instance list` shows them. */
export async function readLeftWork(place: SwarmPlace): Promise<LeftWork[]> {
  const found = await withStore({ ...place, warn: () => undefined }, [], async ({ directory }) => {
    return mapAtMost(AT_ONCE, await directory.instances(), async (at) => {
      const summary = await directory.summary(at).catch((error: unknown) => {
        if (!GoondanError.is(error)) throw error;
      });
      return { ...toInstanceAddress(at), inputs: summary?.pending ?? 0, deadLetters: summary?.deadLetters ?? 0 };
    });
  });
  return found.filter(({ inputs, deadLetters }) => inputs + deadLetters > 0).toSorted(byName);
}

/** The number of instances that are read at the same time. */
const AT_ONCE = 16;

/** Describes the work, one line per instance. The list is bounded. */
export function describeLeftWork(left: readonly LeftWork[], { suggest }: Pick<Terminal, 'suggest'>): string {
  const lines = boundedList(left, (each) => [describeOne(each)], suggest('`gdn instance list`'));
  return lines.map((line) => `${line}\n`).join('');
}

function describeOne({ agent, instanceKey, inputs, deadLetters }: LeftWork): string {
  const parts = [
    ...(inputs === 0 ? [] : [`${inputs} ${inputs === 1 ? 'input waits' : 'inputs wait'} for the next start`]),
    ...(deadLetters === 0 ? [] : [`${deadLetters} ${deadLetters === 1 ? 'dead letter' : 'dead letters'}`]),
  ];
  return `  ${harmlessText(`${agent} (${instanceKey})`)}: ${parts.join(', ')}`;
}

function byName(one: LeftWork, other: LeftWork): number {
  const [first = '', second = ''] = [one, other].map(({ agent, instanceKey }) => JSON.stringify([agent, instanceKey]));
  return first < second ? -1 : 1;
}
