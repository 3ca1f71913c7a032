/** What is outside of the crashing machine and remembers: the client, and the places where effects happen. */
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
}

/** All of a world only ever grows, so its lengths say how it was at a moment. */
export type Moment = Readonly<Record<keyof World, number>>;

export function newWorld(): World {
  return { sent: [], acknowledged: [], effects: [], recorded: [], committed: [], fetched: [] };
}

export function momentOf(world: World): Moment {
  return {
    sent: world.sent.length,
    acknowledged: world.acknowledged.length,
    effects: world.effects.length,
    recorded: world.recorded.length,
    committed: world.committed.length,
    fetched: world.fetched.length,
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
  };
}
