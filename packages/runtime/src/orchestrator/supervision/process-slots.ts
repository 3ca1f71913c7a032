/**
 * Decides which instances get a process when `maxProcesses` are not enough.
 *
 * Invariants:
 * 1. Free slots go to the line in its order (`fair-line.ts`); the only exception is 4.
 * 2. Only idle processes are hibernated to free a slot, and no more than the line needs. The longest idle goes first,
 *    among agents that have several processes, then among the last ones of their agents.
 * 3. There are at most `maxProcesses` processes, except for 4.
 * 4. When every process waits for the answer of another agent, the first awaited instance in line starts beyond the
 *    limit. There is always one: the wait-for graph has no circle (`calls/wait-graph.ts`), so it ends at an instance
 *    without a process, in line or in backoff. So callers that hold all slots cannot block their callees, and the limit
 *    is exceeded only when nothing else can continue. A process beyond the limit is hibernated as soon as it is idle
 *    and the line is not empty.
 * 5. An instance that waits for people comes last in line. Its process ends for others when no idle process does. Its
 *    turn is left and continues in the next process.
 * 6. The line is bounded where input is accepted (`refuseWhenLineFull`); accepted input always finds its place.
 * 7. The last process of an agent does not end for an agent that has its share already, unless nothing else can
 *    continue. The share is an equal part of the slots; if a person or an agent waits for an answer, it is one more
 *    than half of them.
 */
import { GoondanError } from '@goondan/types';
import { inFairOrder, itself, type LineDemand, type Next } from './fair-line.ts';

export type ProcessCondition = 'starting' | 'working' | 'waiting' | 'held' | 'idle' | 'stopping';

export interface SlotHolder {
  readonly key: string;
  /**
   * `waiting`: its turn has an open request, so that it may depend on an instance in line. `held`: its turn waits for
   * people, itself or through an agent it asked.
   */
  readonly condition: ProcessCondition;
  /** Set for an idle process. */
  readonly idleSince?: number;
}

export interface SlotPlan {
  /** Instances that leave the line and get a process now. */
  readonly start: readonly string[];
  /** Instances whose process is asked to end; the slot is free when it is gone. */
  readonly hibernate: readonly string[];
  /** Instances whose process is asked to end and leave its turn, which waits for people. */
  readonly leave: readonly string[];
}

export interface SlotDemand extends LineDemand {
  readonly holders: readonly SlotHolder[];
  /** Whether there is an open request to that instance. */
  readonly isAwaited: (key: string) => boolean;
  readonly maxProcesses: number;
}

/** Plans starts and ends. Call it whenever an instance joins the line, a process ends, or its condition changes. */
export function planSlots(demand: SlotDemand): SlotPlan {
  const { holders, line, maxProcesses } = demand;
  const free = Math.max(0, maxProcesses - holders.length);
  if (line.size === 0) return { start: [], hibernate: [], leave: [] };
  if (free === 0 && holders.every(({ condition }) => condition === 'waiting')) {
    return { start: firstAwaited(demand), hibernate: [], leave: [] };
  }
  // The line may be long: skip it while nothing can be done for it.
  if (free === 0 && !holders.some(canGiveWay)) return { start: [], hibernate: [], leave: [] };

  const processes = countProcesses(demand);
  const order = inFairOrder(demand, processes);
  const start = [...takeNext(order, free)].map(({ key }) => key);
  return { start, ...makeRoom(demand, start.length, order, processes) };
}

function canGiveWay({ condition }: SlotHolder): boolean {
  return condition === 'idle' || condition === 'held';
}

/** Counts the processes that stay, by agent. */
function countProcesses({ holders, agentOf = itself }: SlotDemand): Map<string, number> {
  const processes = new Map<string, number>();
  for (const { key, condition } of holders) {
    if (condition === 'stopping') continue;
    const agent = agentOf(key);
    processes.set(agent, (processes.get(agent) ?? 0) + 1);
  }
  return processes;
}

/** Takes the next ones. Unlike `take`, it leaves the rest of the order for later. */
function* takeNext(order: Generator<Next, undefined>, count: number): Generator<Next> {
  for (let taken = 0; taken < count; taken++) {
    const { value } = order.next();
    if (value === undefined) return;
    yield value;
  }
}

/**
 * Chooses idle processes for the line. If there are too few, adds processes that wait for people, for the instances in
 * line that do not.
 */
function makeRoom(
  demand: SlotDemand,
  started: number,
  order: Generator<Next, undefined>,
  processes: Map<string, number>,
): Omit<SlotPlan, 'start'> {
  const { holders, line, isHeld, maxProcesses } = demand;
  const excess = Math.max(0, holders.length - maxProcesses);
  const stopping = holders.filter(({ condition }) => condition === 'stopping').length;
  // A process that is ending already counts for the excess first, then for the first in line.
  const beyond = Math.max(0, excess - stopping);
  const served = [...takeNext(order, Math.max(0, stopping - excess))].length;
  const waiting = Math.min(line.size - started - served, holders.length);
  const hibernate = chooseIdle(demand, processes, [
    ...Array<undefined>(beyond).fill(undefined),
    ...takeNext(order, waiting),
  ]);
  const hurried = isHeld === undefined ? line.size : [...line].filter((key) => !isHeld(key)).length;
  const missing = Math.max(0, hurried - started + excess - stopping - hibernate.length);
  const leave = holders.filter(({ condition }) => condition === 'held').slice(0, missing);
  const isStuck = started + hibernate.length + leave.length === 0 && !holders.some(({ condition }) => moves(condition));
  return { hibernate: isStuck ? longestIdle(holders) : hibernate, leave: leave.map(({ key }) => key) };
}

/** Tells whether its slot may become free by itself. */
function moves(condition: ProcessCondition): boolean {
  return condition === 'starting' || condition === 'working' || condition === 'stopping';
}

/**
 * Rejects when the line is full. Call it before an event is accepted for an instance that has no process and is not in
 * line.
 */
export function refuseWhenLineFull(waiting: number, maxWaiting: number): void {
  if (waiting < maxWaiting) return;
  throw new GoondanError('E_PROCESSES_FULL', `${waiting} agent instances wait for a process already.`, {
    retryable: true,
  });
}

function firstAwaited({ line, isAwaited, isHeld }: SlotDemand): string[] {
  return [
    ...line
      .keys()
      .filter((key) => isAwaited(key) && isHeld?.(key) !== true)
      .take(1),
  ];
}

/** Chooses one idle process per entry, if one may end for it; `undefined` means a process beyond the limit. */
function chooseIdle(
  demand: SlotDemand,
  processes: Map<string, number>,
  needy: readonly (Next | undefined)[],
): readonly string[] {
  const { holders, agentOf = itself } = demand;
  const idle = holders
    .filter(({ condition }) => condition === 'idle')
    .toSorted((left, right) => (left.idleSince ?? 0) - (right.idleSince ?? 0))
    .map(({ key }) => ({ key, agent: agentOf(key) }));
  const chosen: string[] = [];
  for (const next of needy) {
    if (idle.length === 0) break;
    const hasOthers = idle.findIndex(({ agent }) => agent === next?.agent || (processes.get(agent) ?? 0) > 1);
    const index = hasOthers < 0 && mayTakeLast(demand, processes, next) ? 0 : hasOthers;
    const [goes] = index < 0 ? [] : idle.splice(index, 1);
    if (goes === undefined) continue;
    processes.set(goes.agent, (processes.get(goes.agent) ?? 0) - 1);
    chosen.push(goes.key);
  }
  return chosen;
}

/** Invariant 7: tells whether the last process of an agent may end for `next`. `processes` already counts that one. */
function mayTakeLast(demand: SlotDemand, processes: Map<string, number>, next: Next | undefined): boolean {
  if (next === undefined) return true;
  const { maxProcesses, isAwaited } = demand;
  const isUrgent = next.isForPerson || isAwaited(next.key);
  const share = Math.max(1, Math.floor(maxProcesses / processes.size));
  const most = isUrgent ? Math.max(share, Math.floor(maxProcesses / 2) + 1) : share;
  return (processes.get(next.agent) ?? 0) <= most;
}

function longestIdle(holders: readonly SlotHolder[]): readonly string[] {
  const idle = holders.filter(({ condition }) => condition === 'idle');
  const [first] = idle.toSorted((left, right) => (left.idleSince ?? 0) - (right.idleSince ?? 0));
  return first === undefined ? [] : [first.key];
}
