/**
 * What is outside of the crashing machine and remembers: the client, and the places where effects happen. A reset is
 * noted among the effects and their records, because it may have made the agent forget those before it.
 */
export interface World {
  /** Event ids in the order they were sent. */
  readonly sent: string[];
  /** Event ids in the order they were acknowledged to the client. */
  readonly acknowledged: string[];
  /** Effects in the order they happened. */
  readonly effects: string[];
  /** Effects whose record the store had acknowledged. */
  readonly recorded: string[];
  /** Turns whose commit the store had acknowledged. */
  readonly committed: string[];
  /** Answers the client has and acknowledged; the acknowledgement may not have come through. */
  readonly fetched: string[];
  /** Resets that were acknowledged, by their names. */
  readonly resets: string[];
  /** Turns before or after which somebody tried to commit states alone. */
  readonly stateTries: string[];
  /** Tries that were acknowledged. */
  readonly statesKept: string[];
}

/** All of a world only ever grows, so its lengths say how it was at a moment. */
export type Moment = Readonly<Record<keyof World, number>>;

export function newWorld(): World {
  return {
    sent: [],
    acknowledged: [],
    effects: [],
    recorded: [],
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
    committed: world.committed.slice(0, moment.committed),
    fetched: world.fetched.slice(0, moment.fetched),
    resets: world.resets.slice(0, moment.resets),
    stateTries: world.stateTries.slice(0, moment.stateTries),
    statesKept: world.statesKept.slice(0, moment.statesKept),
  };
}

/** Somebody tries to reset an instance. */
export function noteReset({ effects, recorded }: World, name: string): void {
  effects.push(name);
  recorded.push(name);
}

/** What a reset is called, by the turn that it comes before or after. */
export function resetBefore(turnId: string): string {
  return `reset before ${turnId}`;
}

export function resetAfter(turnId: string): string {
  return `reset after ${turnId}`;
}

/** Names a commit of states alone by the turn that it comes before or after. */
export function statesBefore(turnId: string): string {
  return `states before ${turnId}`;
}

export function statesAfter(turnId: string): string {
  return `states after ${turnId}`;
}

/** The record that ends a step, among those that were acknowledged. */
export function sealOf(stepId: string): string {
  return `${stepId}-seal`;
}

/** Whether the record of this effect was acknowledged, and no reset has come since that may have taken it away. */
export function isRecordedSinceReset({ recorded }: World, turnId: string, effect: string): boolean {
  return recorded.lastIndexOf(effect) > recorded.lastIndexOf(resetBefore(turnId));
}
