/**
 * Decides which instances get a process when there are more instances than `maxProcesses`.
 *
 * Invariants:
 * 1. Free slots go to the waiting instances in the order of `fair-line.ts`; the only exception is 4.
 * 2. Only idle processes are hibernated to free a slot, and no more than needed. Processes of agents that have several
 *    processes are chosen before the only process of an agent. Among these, the process that has been idle longest is
 *    chosen first.
 * 3. There are at most `maxProcesses` processes, except for 4.
 * 4. When every process waits for the answer of another agent, the first instance in line whose answer is awaited
 *    starts beyond the limit. Such an instance always exists: the wait-for graph has no cycle (`calls/wait-graph.ts`),
 *    so every chain of waiting instances ends at an instance without a process, which waits for a slot or is in
 *    backoff. So callers that hold all slots cannot block their callees, and the limit is exceeded only when nothing
 *    else can continue. A process beyond the limit is hibernated as soon as it is idle and other instances wait.
 * 5. An instance that waits for people gets a slot last. If no idle process can be ended, the process of such an
 *    instance ends to free its slot. Its turn is left and continues in the next process.
 * 6. The number of waiting instances is bounded where input is accepted (`refuseWhenLineFull`). An instance with
 *    accepted input always gets into the line.
 * 7. The last process of an agent does not end to free a slot for an agent that already has its share, unless nothing
 *    else can continue. The share is an equal part of the slots. If a person or an agent waits for an answer, the share
 *    is one more than half of the slots.
 */
import { GoondanError } from '@goondan/types';
import { inFairOrder, itself, type LineDemand, type Next } from './fair-line.ts';

export type ProcessCondition = 'starting' | 'working' | 'waiting' | 'held' | 'idle' | 'stopping';

export interface SlotHolder {
  readonly key: string;
  /**
   * `waiting`: the turn has an open request, so it may depend on an instance that waits for a slot. `held`: the turn
   * waits for people, directly or through an agent it called.
   */
  readonly condition: ProcessCondition;
  /** The time since which the process is idle; set only for an idle process. */
  readonly idleSince?: number;
}

export interface SlotPlan {
  /** Instances that get a process now. */
  readonly start: readonly string[];
  /** Instances whose process is asked to end; the slot is free when the process has exited. */
  readonly hibernate: readonly string[];
  /** Instances whose process is asked to end and to leave its turn, which waits for people. */
  readonly leave: readonly string[];
}

export interface SlotDemand extends LineDemand {
  readonly holders: readonly SlotHolder[];
  /** Returns true if a request to this instance is open. */
  readonly isAwaited: (key: string) => boolean;
  readonly maxProcesses: number;
}

/** Plans starts and ends. Call it whenever an instance requests a slot, a process exits, or its condition changes. */
export function planSlots(demand: SlotDemand): SlotPlan {
  const { holders, line, maxProcesses } = demand;
  const free = Math.max(0, maxProcesses - holders.length);
  if (line.size === 0) return { start: [], hibernate: [], leave: [] };
  if (free === 0 && holders.every(({ condition }) => condition === 'waiting')) {
    return { start: firstAwaited(demand), hibernate: [], leave: [] };
  }
  // Many instances may wait, so the order is not computed while no slot can be freed.
  if (free === 0 && !holders.some(canGiveWay)) return { start: [], hibernate: [], leave: [] };

  const processes = countProcesses(demand);
  const order = inFairOrder(demand, processes);
  const start = [...takeNext(order, free)].map(({ key }) => key);
  return { start, ...makeRoom(demand, start.length, order, processes) };
}

function canGiveWay({ condition }: SlotHolder): boolean {
  return condition === 'idle' || condition === 'held';
}

/** Returns the number of processes that stay, by agent. */
function countProcesses({ holders, agentOf = itself }: SlotDemand): Map<string, number> {
  const processes = new Map<string, number>();
  for (const { key, condition } of holders) {
    if (condition === 'stopping') continue;
    const agent = agentOf(key);
    processes.set(agent, (processes.get(agent) ?? 0) + 1);
  }
  return processes;
}

/** Takes the next entries. Unlike `take`, it does not close the generator, so that later calls continue it. */
function* takeNext(order: Generator<Next, undefined>, count: number): Generator<Next> {
  for (let taken = 0; taken < count; taken++) {
    const { value } = order.next();
    if (value === undefined) return;
    yield value;
  }
}

/**
 * Chooses idle processes to end for waiting instances. If there are too few, also chooses processes that wait for
 * people, for instances that do not wait for people themselves.
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
  // A process that is already ending reduces the excess first, and then frees a slot for the first waiting instance.
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

/** Returns true if the slot may become free by itself. */
function moves(condition: ProcessCondition): boolean {
  return condition === 'starting' || condition === 'working' || condition === 'stopping';
}

/**
 * Throws when too many instances wait. Call it before an event is accepted for an instance that has no process and does
 * not wait for one.
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

/**
 * Chooses for each entry one idle process to end, if there is a process that may end for this entry. An entry
 * `undefined` means that a process is beyond the limit.
 */
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

/** Returns true if the last process of an agent may end for `next` (invariant 7). `processes` already counts `next`. */
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
