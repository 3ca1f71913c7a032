/**
 * The watchers of a swarm. Check `isWatched` before building a notice; without watchers, no notice is built.
 *
 * 1. The processes send output and runtime events only while somebody watches them. A process learns of a watcher before
 *    it gets a turn that begins later, so that the watcher gets everything of that turn.
 * 2. A watcher that asks for running turns (`soFar`) first gets each running turn so far, as its process reports it, and
 *    then everything that follows. If a turn ends before its process learns of the watcher, the watcher gets only
 *    `turn.ended`.
 * 3. A watcher of one event that another turn takes also gets the output and the runtime events of that turn, from then on.
 */
import type { AgentAddress } from '@goondan/types';
import { toInstanceAddress } from '../../control/instance-address.ts';
import type { InstanceAddress, SwarmNotice, WatchFilter } from '../../control/swarm.ts';
import type { WatchedKind } from '../../ipc/to-agent.ts';
import { eventIdOf } from '../../ports/ids.ts';
import { addressKey } from '../address/address-key.ts';
import type { AgentFrame, SwarmListener } from '../instances/swarm-listener.ts';

/** An instance whose process sends the watched kinds of frames. */
export interface WatchedInstance {
  readonly address: AgentAddress;
  /** The event of the running turn. */
  readonly running: unknown;
  /** Tells the process which kinds are watched. `wantsSoFar`: the process answers with a frame `so.far`. */
  watch(kinds: readonly WatchedKind[], wantsSoFar: boolean): void;
}

export interface WatchersDeps {
  /** Returns the questions that wait for people now, for watchers that ask for earlier notices. */
  readonly questions: () => Iterable<SwarmNotice>;
  /** Returns the instances that the filter may concern. */
  readonly instances: (filter: WatchFilter) => Iterable<WatchedInstance>;
}

interface Watcher {
  readonly filter: WatchFilter;
  readonly listener: (notice: SwarmNotice) => void;
  /** Keys of the instances that have not yet reported their running turn to this watcher. */
  readonly awaited: Set<string>;
  /** The event of the turn that has taken the watched event (invariant 3). */
  takenBy?: string;
}

const KINDS: readonly WatchedKind[] = ['delta', 'runtime.event'];

export class Watchers implements SwarmListener {
  readonly #watchers = new Set<Watcher>();

  constructor(private readonly deps: WatchersDeps) {}

  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  /** Adds a watcher. The questions that wait now are delivered before it returns. Returns a function that ends the watch. */
  add(filter: WatchFilter, listener: (notice: SwarmNotice) => void): () => void {
    const watcher: Watcher = { filter, listener, awaited: new Set() };
    if (filter.soFar === true) for (const notice of this.deps.questions()) if (fits(filter, notice)) listener(notice);
    this.#watchers.add(watcher);
    this.#tellProcesses(filter, watcher);
    return () => {
      if (this.#watchers.delete(watcher)) this.#tellProcesses(filter);
    };
  }

  tell(notice: SwarmNotice): void {
    for (const watcher of [...this.#watchers]) {
      const { awaited } = watcher;
      follow(watcher, notice);
      if (isFor(watcher, notice) && !(awaited.size > 0 && isLive(notice) && awaited.has(keyOf(notice.at)))) {
        watcher.listener(notice);
      }
    }
  }

  /** Delivers the running turn of an instance to the watchers that asked for it. */
  heard(at: AgentAddress, frame: AgentFrame): void {
    if (frame.type !== 'so.far') return;
    const { events, deltas } = frame;
    const told = toInstanceAddress(at);
    const notices: readonly SwarmNotice[] = [
      ...events.map((event) => ({ type: 'runtime.event', at: told, ...event }) as const),
      ...deltas.map((delta) => ({ type: 'delta', at: told, ...delta }) as const),
    ];
    for (const watcher of [...this.#watchers]) {
      if (!watcher.awaited.delete(addressKey(at))) continue;
      for (const notice of notices) {
        follow(watcher, notice);
        if (isFor(watcher, notice)) watcher.listener(notice);
      }
    }
  }

  /** Waits no longer for an exited process, because another process starts its turn again. */
  processGone(at: AgentAddress): void {
    for (const { awaited } of this.#watchers) awaited.delete(addressKey(at));
  }

  /** Returns the kinds of frames of this instance that somebody watches. */
  kindsOf(at: AgentAddress): readonly WatchedKind[] {
    const filters = [...this.#watchers].map(({ filter }) => filter).filter((filter) => concerns(filter, at));
    return KINDS.filter((kind) => filters.some((filter) => wants(filter, kind)));
  }

  #tellProcesses(filter: WatchFilter, newcomer?: Watcher): void {
    if (!KINDS.some((kind) => wants(filter, kind))) return;
    for (const instance of this.deps.instances(filter)) {
      const { address, running } = instance;
      if (!concerns(filter, address)) continue;
      const wantsSoFar = newcomer?.filter.soFar === true && running !== undefined;
      if (wantsSoFar) newcomer.awaited.add(addressKey(address));
      instance.watch(this.kindsOf(address), wantsSoFar);
    }
  }
}

/** Notes that a turn has taken the event that is watched (invariant 3). */
function follow(watcher: Watcher, notice: SwarmNotice): void {
  if (notice.type !== 'runtime.event' || notice.name !== 'turn.steered') return;
  const { eventId, turnId } = notice.payload;
  const { eventId: watched, ...others } = watcher.filter;
  if (typeof turnId !== 'string' || watched === undefined || eventId !== watched) return;
  if (fits({ ...others, types: [notice.type] }, notice)) watcher.takenBy = eventIdOf(turnId);
}

function isFor({ filter, takenBy }: Watcher, notice: SwarmNotice): boolean {
  if (fits(filter, notice)) return true;
  return takenBy !== undefined && isLive(notice) && fits({ ...filter, eventId: takenBy }, notice);
}

function isLive(notice: SwarmNotice): notice is Extract<SwarmNotice, { readonly type: WatchedKind }> {
  return notice.type === 'delta' || notice.type === 'runtime.event';
}

function keyOf({ agent, instanceKey }: InstanceAddress): string {
  return addressKey({ agentName: agent, instanceKey });
}

function wants({ types }: WatchFilter, kind: WatchedKind): boolean {
  return types === undefined || types.includes(kind);
}

function concerns({ agent, instanceKey }: WatchFilter, at: AgentAddress): boolean {
  return (agent ?? at.agentName) === at.agentName && (instanceKey ?? at.instanceKey) === at.instanceKey;
}

function fits(filter: WatchFilter, notice: SwarmNotice): boolean {
  if (filter.types !== undefined && !filter.types.includes(notice.type)) return false;
  const about = subjectOf(notice);
  if (filter.agent !== undefined && filter.agent !== about.agent) return false;
  if (filter.instanceKey !== undefined && filter.instanceKey !== about.instanceKey) return false;
  return filter.eventId === undefined || filter.eventId === about.eventId;
}

function subjectOf(notice: SwarmNotice): Partial<Record<'agent' | 'instanceKey' | 'eventId', string | undefined>> {
  switch (notice.type) {
    case 'delta':
      return { ...notice.at, eventId: notice.eventId };
    case 'runtime.event': {
      const { turnId } = notice.payload;
      return { ...notice.at, eventId: typeof turnId === 'string' ? eventIdOf(turnId) : undefined };
    }
    case 'turn.ended':
      return notice.end;
    case 'log': {
      const { agent, instance, turnId } = notice.line;
      return { agent, instanceKey: instance, eventId: turnId === undefined ? undefined : eventIdOf(turnId) };
    }
    case 'question':
      return notice.question;
    case 'instance':
      return notice.at;
    case 'dropped':
      return {};
  }
}
