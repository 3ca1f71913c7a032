/**
 * Everything outside the crashing machine, which remembers across crashes: the client, and the services where effects
 * happen. A reset is also an entry in the lists of effects and records, because the agent may forget everything before
 * the reset.
 */
export interface World {
  /** Event ids in the order of sending. */
  readonly sent: string[];
  /** Event ids in the order of acknowledgement. */
  readonly acknowledged: string[];
  /** Effects in the order of execution. */
  readonly effects: string[];
  /** Effects with an acknowledged record. Such a record survives a kill. */
  readonly recorded: string[];
  /** After each acknowledged durable write: the length of `recorded` at its start. These records survive a power loss. */
  readonly durable: number[];
  /** Turns with an acknowledged commit. */
  readonly committed: string[];
  /** Answers that the client fetched and acknowledged; the acknowledgement may have been lost in a crash. */
  readonly fetched: string[];
  /** The names of acknowledged resets, as `resetBefore` returns them. */
  readonly resets: string[];
  /** The names of all attempts to commit states alone, before or after a turn. */
  readonly stateTries: string[];
  /** The names of all acknowledged commits of states alone. */
  readonly statesKept: string[];
}

/** The lengths of a world's lists. The lists only grow, so their lengths describe a moment. */
export type Moment = Readonly<Record<keyof World, number>>;

export function newWorld(): World {
  return {
    sent: [],
    acknowledged: [],
    effects: [],
    recorded: [],
    durable: [],
    committed: [],
    fetched: [],
    resets: [],
    stateTries: [],
    statesKept: [],
  };
}

export function momentOf(world: World): Moment {
  return {
    sent: world.sent.length,
    acknowledged: world.acknowledged.length,
    effects: world.effects.length,
    recorded: world.recorded.length,
    durable: world.durable.length,
    committed: world.committed.length,
    fetched: world.fetched.length,
    resets: world.resets.length,
    stateTries: world.stateTries.length,
    statesKept: world.statesKept.length,
  };
}

export function worldAt(world: World, moment: Moment): World {
  return {
    sent: world.sent.slice(0, moment.sent),
    acknowledged: world.acknowledged.slice(0, moment.acknowledged),
    effects: world.effects.slice(0, moment.effects),
    recorded: world.recorded.slice(0, moment.recorded),
    durable: world.durable.slice(0, moment.durable),
    committed: world.committed.slice(0, moment.committed),
    fetched: world.fetched.slice(0, moment.fetched),
    resets: world.resets.slice(0, moment.resets),
    stateTries: world.stateTries.slice(0, moment.stateTries),
    statesKept: world.statesKept.slice(0, moment.statesKept),
  };
}

/**
 * Forgets the records that a power loss may take back: those after the last durable write of a turn. Attempts to reset
 * stay, because they may have succeeded.
 */
export function losePower(world: World): World {
  const durable = world.durable.at(-1) ?? 0;
  const recorded = world.recorded.filter((name, index) => index < durable || name.startsWith('reset '));
  return { ...world, recorded, durable: [Math.min(durable, recorded.length)] };
}

/** Records an attempt to reset an instance. */
export function noteReset({ effects, recorded }: World, name: string): void {
  effects.push(name);
  recorded.push(name);
}

/** Returns the name of a reset that happens before this turn. */
export function resetBefore(turnId: string): string {
  return `reset before ${turnId}`;
}

export function resetAfter(turnId: string): string {
  return `reset after ${turnId}`;
}

/** Returns the name of a commit of states alone that happens before this turn. */
export function statesBefore(turnId: string): string {
  return `states before ${turnId}`;
}

export function statesAfter(turnId: string): string {
  return `states after ${turnId}`;
}

/** Returns the name of the acknowledged record that ends a step. */
export function sealOf(stepId: string): string {
  return `${stepId}-seal`;
}

/** Returns true if the record of this effect was acknowledged, and no later reset may have removed the record. */
export function isRecordedSinceReset({ recorded }: World, turnId: string, effect: string): boolean {
  return recorded.lastIndexOf(effect) > recorded.lastIndexOf(resetBefore(turnId));
}
