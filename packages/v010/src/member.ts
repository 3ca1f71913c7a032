/**
 * One old extension of an agent. The old extensions of an agent find each other over the event bus, which only those in
 * place can hear. So the list of members is right at every moment, whoever was added, changed or removed.
 */
import type { ExtensionApi, ExtensionIdentity } from '@goondan/types';
import { Entries } from './entries.ts';
import { oldEvents } from './old-events.ts';
import { OldState } from './old-state.ts';
import type { OldEventBus } from './old-types.ts';
import type { TurnState } from './turn-state.ts';

/** Asks every member to add itself to a list. */
const COLLECT = 'goondan.v010.collect';
/** Tells a member that it is in place. */
const PLACED = 'goondan.v010.placed';
/** The maximum number of different warnings of one member. */
const MOST_WARNINGS = 20;

export class Member {
  readonly entries: Entries;
  readonly state: OldState;
  readonly events: OldEventBus;
  readonly #warnings = new Set<string>();
  /** The newest turn that this member knows. */
  turn: TurnState | undefined;

  constructor(
    readonly api: ExtensionApi,
    readonly identity: ExtensionIdentity,
  ) {
    this.entries = new Entries(this);
    this.state = new OldState(api, this.name);
    this.events = oldEvents(api.events);
  }

  get name(): string {
    return this.identity.name;
  }

  /** Logs a warning that names the extension. The same warning is logged once. */
  warnOnce(warning: string): void {
    if (this.#warnings.has(warning) || this.#warnings.size >= MOST_WARNINGS) return;
    this.#warnings.add(warning);
    this.api.logger.warn(`Extension "${this.name}", ${warning}`);
  }

  join(): void {
    this.api.events.on(COLLECT, (collect) => {
      if (typeof collect === 'function') collect(this);
    });
    this.api.events.on(PLACED, (placed) => {
      if (placed === this) this.state.loadSoon();
    });
    // An extension that is loaded while the agent runs gets its own event when it is put in place.
    this.api.events.emit(PLACED, this);
  }

  /** Returns the members in place, in the order of the agent's extensions. */
  findAll(): Member[] {
    const found: Member[] = [];
    this.api.events.emit(COLLECT, (member: Member) => found.push(member));
    return found.toSorted((one, other) => one.identity.position - other.identity.position);
  }
}
