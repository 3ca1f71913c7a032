/**
 * Who may have a process when `maxProcesses` do not suffice.
 *
 * Invariants:
 * 1. Free slots go to the line in its order; nobody is overtaken but by 4.
 * 2. A slot is made free by hibernating idle processes only, the one that is idle longest first, and no more of them
 *    than the line needs.
 * 3. There are at most `maxProcesses` processes, but for 4.
 * 4. When every process waits for the answer of another agent, the first in line whose answer is awaited starts beyond
 *    the limit. Somebody is in that position: the wait-for graph has no circle (`calls/wait-graph.ts`), so its end is an
 *    instance without a process, in line or in backoff. So callers that hold all slots cannot block their callees, and
 *    the limit is exceeded only when nothing else could go on. What is beyond it is hibernated as soon as it is idle and
 *    anybody waits.
 * 5. Whoever waits for people is in no hurry: in line it comes after everybody else, and a process of it goes, when no idle
 *    one does, for those who are. Its turn is left where it stands, and goes on with the next process.
 * 6. The line is bounded where input is accepted (`refuseWhenLineFull`); what was accepted always finds its place.
 */
import { GoondanError } from '@goondan/types';

export type ProcessCondition = 'starting' | 'working' | 'waiting' | 'held' | 'idle' | 'stopping';

export interface SlotHolder {
  readonly key: string;
  /**
   * `waiting`: its turn has a request under way, so that it may depend on somebody in line. `held`: its turn waits for
   * people, itself or through somebody it asked.
   */
  readonly condition: ProcessCondition;
  /** Of an idle one. */
  readonly idleSince?: number;
}

export interface SlotPlan {
  /** These leave the line and get a process now. */
  readonly start: readonly string[];
  /** These are asked to go; their slot is free when their process is gone. */
  readonly hibernate: readonly string[];
  /** These are asked to go, too, and leave their turns where they stand: they wait for people. */
  readonly leave: readonly string[];
}

export interface SlotDemand {
  readonly holders: readonly SlotHolder[];
  /** First come, first served: a set keeps the place of who asks again. */
  readonly line: ReadonlySet<string>;
  /** Whether a request to that instance is under way. */
  readonly isAwaited: (key: string) => boolean;
  /** Whether that instance waits for people; absent when nobody does. */
  readonly isHeld?: (key: string) => boolean;
  readonly maxProcesses: number;
}

/** To be asked whenever somebody joins the line, a process ends, or what it does changes. */
export function planSlots(demand: SlotDemand): SlotPlan {
  const { holders, line, maxProcesses } = demand;
  if (line.size === 0) return { start: [], hibernate: [], leave: [] };

  const { hurried, hurriedCount, all } = inOrder(demand);
  const start = [...all().take(Math.max(0, maxProcesses - holders.length))];
  if (start.length > 0) {
    return { start, ...makeRoom(holders, hurriedCount - start.length, line.size - start.length) };
  }
  if (holders.every(({ condition }) => condition === 'waiting')) {
    return { start: firstAwaited(demand, hurried()), hibernate: [], leave: [] };
  }
  const excess = holders.length - maxProcesses;
  return { start, ...makeRoom(holders, hurriedCount + excess, line.size + excess) };
}

/** Not walked further than it must be: the line may be long, and mostly nobody in it waits for people. */
function inOrder({ line, isHeld }: SlotDemand) {
  if (isHeld === undefined) return { hurried: () => line.keys(), hurriedCount: line.size, all: () => line.keys() };
  const [hurried, patient] = [[...line].filter((key) => !isHeld(key)), [...line].filter(isHeld)];
  return {
    hurried: () => hurried.values(),
    hurriedCount: hurried.length,
    all: () => [...hurried, ...patient].values(),
  };
}

/** Idle ones for whoever is in line; of those that wait for people as many as are missing for those in a hurry. */
function makeRoom(holders: readonly SlotHolder[], hurried: number, all: number): Omit<SlotPlan, 'start'> {
  const stopping = holders.filter(({ condition }) => condition === 'stopping').length;
  const hibernate = chooseIdle(holders, all - stopping);
  const missing = Math.max(0, hurried - stopping - hibernate.length);
  const held = holders.filter(({ condition }) => condition === 'held').slice(0, missing);
  return { hibernate, leave: held.map(({ key }) => key) };
}

/** To be asked before an event is accepted for an instance that has no process and is not in line. */
export function refuseWhenLineFull(waiting: number, maxWaiting: number): void {
  if (waiting < maxWaiting) return;
  throw new GoondanError('E_PROCESSES_FULL', `${waiting} agent instances wait for a process already.`, {
    retryable: true,
  });
}

function firstAwaited({ isAwaited }: SlotDemand, hurried: IteratorObject<string>): string[] {
  return [...hurried.filter(isAwaited).take(1)];
}

function chooseIdle(holders: readonly SlotHolder[], count: number): string[] {
  if (count <= 0) return [];
  return holders
    .filter(({ condition }) => condition === 'idle')
    .toSorted((left, right) => (left.idleSince ?? 0) - (right.idleSince ?? 0))
    .slice(0, count)
    .map(({ key }) => key);
}
