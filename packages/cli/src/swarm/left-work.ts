/** The work that a swarm has left for its next start, read from disk while the swarm does not run. */
import type { InstanceAddress } from '@goondan/runtime';
import { toInstanceAddress } from '@goondan/runtime/control';
import { harmlessSentence, harmlessText } from '../harmless-text.ts';
import { readSummary } from '../instance/read-instances.ts';
import { withStore } from '../instance/with-store.ts';
import { mapAtMost } from '../map-at-most.ts';
import { readStoppedQuestions } from '../question/read-stopped-questions.ts';
import type { Terminal } from '../terminal.ts';
import type { SwarmPlace } from './swarm-place.ts';
import { boundedList } from './bounded-list.ts';

/** An item of `left` in `gdn status --json`. Fields may be added, but are never renamed. */
export interface LeftWork extends InstanceAddress {
  /** The number of accepted inputs that are not handled yet; 0 if `problem` is present. */
  readonly inputs: number;
  /** The number of dead letters; 0 if `problem` is present. */
  readonly deadLetters: number;
  /** The number of questions that wait for a person; absent if there are none. */
  readonly questions?: number;
  /** Why the instance does not start, as in `gdn instance list`; absent when its summary can be read. */
  readonly problem?: string;
}

/** Lists the instances that have work, dead letters or a summary that cannot be read. */
export async function readLeftWork(place: SwarmPlace): Promise<LeftWork[]> {
  const { questions } = await readStoppedQuestions(place, () => undefined);
  const asked = Map.groupBy(questions, nameOf);
  const found = await withStore({ ...place, warn: () => undefined }, [], async ({ directory }) => {
    return mapAtMost(AT_ONCE, await directory.instances(), async (at): Promise<LeftWork> => {
      const summary = await readSummary(directory, at);
      const about = toInstanceAddress(at);
      if ('problem' in summary) return { ...about, inputs: 0, deadLetters: 0, ...summary };
      const waiting = asked.get(nameOf(about))?.length;
      return {
        ...about,
        inputs: summary.pending,
        deadLetters: summary.deadLetters,
        ...(waiting !== undefined && { questions: waiting }),
      };
    });
  });
  return found
    .filter(({ inputs, deadLetters, problem }) => inputs + deadLetters > 0 || problem !== undefined)
    .toSorted(byName);
}

/** The number of instances that are read at the same time. */
const AT_ONCE = 16;

/** Describes the work, one line per instance. The list is bounded. */
export function describeLeftWork(left: readonly LeftWork[], { suggest }: Pick<Terminal, 'suggest'>): string {
  const where = suggest('`gdn approve`');
  const lines = boundedList(left, (each) => [describeOne(each, where)], suggest('`gdn instance list`'));
  return lines.map((line) => `${line}\n`).join('');
}

/** `where`: the command that lists the questions. */
function describeOne({ agent, instanceKey, inputs, deadLetters, questions, problem }: LeftWork, where: string): string {
  const parts = [
    ...(problem === undefined ? [] : [`does not start, ${harmlessSentence(problem)}`]),
    ...(inputs === 0 ? [] : [`${inputs} ${inputs === 1 ? 'input waits' : 'inputs wait'} for the next start`]),
    ...(questions === undefined ? [] : [`waiting for a person (${questions}, see ${where})`]),
    ...(deadLetters === 0 ? [] : [countLetters(deadLetters)]),
  ];
  return `  ${harmlessText(`${agent} (${instanceKey})`)}: ${parts.join(', ')}`;
}

function countLetters(count: number): string {
  return `${count} ${count === 1 ? 'dead letter' : 'dead letters'}`;
}

function byName(one: LeftWork, other: LeftWork): number {
  return nameOf(one) < nameOf(other) ? -1 : 1;
}

function nameOf({ agent, instanceKey }: InstanceAddress): string {
  return JSON.stringify([agent, instanceKey]);
}
