/** The watchers of a swarm. Check `isWatched` before building a notice; without watchers, no notice is built. */
import type { SwarmNotice, WatchFilter } from '../../control/swarm.ts';
import { eventIdOf } from '../../ports/ids.ts';

export class Watchers {
  readonly #watchers = new Set<{ readonly filter: WatchFilter; readonly listener: (notice: SwarmNotice) => void }>();
  readonly #soFar: () => Iterable<SwarmNotice>;

  /** `soFar` returns the notices of the turns that are running now, for watchers that ask for this backlog. */
  constructor(soFar: () => Iterable<SwarmNotice>) {
    this.#soFar = soFar;
  }

  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  /** Adds a watcher, and delivers the backlog before it returns. Returns a function that ends the watch. */
  add(filter: WatchFilter, listener: (notice: SwarmNotice) => void): () => void {
    const watcher = { filter, listener };
    if (filter.soFar === true) for (const notice of this.#soFar()) if (fits(filter, notice)) listener(notice);
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  tell(notice: SwarmNotice): void {
    for (const { filter, listener } of [...this.#watchers]) if (fits(filter, notice)) listener(notice);
  }
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
    case 'approval':
      return notice.approval;
    case 'instance':
      return notice.at;
    case 'dropped':
      return {};
  }
}
