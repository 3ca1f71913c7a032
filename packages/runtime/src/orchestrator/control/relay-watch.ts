/**
 * Watches all nodes of a swarm as one. Nodes that join later are watched from then on, with the backlog of their running
 * turns. A node that ends, or whose connection is lost, does not end the watch.
 */
import type { Swarm, SwarmNotice, SwarmWatch, WatchFilter } from '../../control/swarm.ts';
import { type Clock, waitAtMost } from '../../ports/clock.ts';
import { MergedNotices } from './merge-notices.ts';
import type { OtherNode, OtherNodes } from './other-nodes.ts';

/** The time in which the first connections are awaited, and the pause between two looks at the list of nodes. */
const FIRST_MS = 3_000;
const LOOK_MS = 1_000;

export interface RelayWatchDeps {
  /** The name of this node. */
  readonly node: string;
  readonly local: Swarm;
  readonly nodes: OtherNodes;
  readonly clock: Clock;
}

/** Implements `Swarm.watch`. */
export async function relayWatch(
  { node: here, local, nodes, clock }: RelayWatchDeps,
  filter: WatchFilter,
  listener: (notice: SwarmNotice) => void,
): Promise<SwarmWatch> {
  const merged = new MergedNotices(listener);
  /** The watch of each node, by the id of its start; `undefined` while it is being opened. */
  const watches = new Map<string, SwarmWatch | undefined>();
  let isOver = false;
  let callOff = () => {};
  const own = await local.watch(filter, naming(here, merged.from({})));

  const open = async ({ id, node, swarm }: OtherNode, wanted: WatchFilter) => {
    watches.set(id, undefined);
    const source = naming(node.name, merged.from({}));
    const watch = await swarm.watch(wanted, (notice) => {
      if (!isOver) source(notice);
    });
    if (isOver || !watches.has(id)) return watch.end();
    watches.set(id, watch);
    const forget = () => void watches.delete(id);
    watch.ended.then(forget, forget);
  };
  const look = async (wanted: WatchFilter) => {
    const living = await nodes.list();
    const ids = new Set(living.map(({ id }) => id));
    for (const [id, watch] of watches) {
      if (ids.has(id)) continue;
      // A node that is cut off may keep its connection open.
      watches.delete(id);
      watch?.end();
    }
    const missing = living.filter(({ id }) => !watches.has(id));
    await Promise.all(missing.map((each) => open(each, wanted).catch(() => void watches.delete(each.id))));
  };
  const lookAgain = async (): Promise<void> => {
    await waitAtMost(clock, FIRST_MS, look({ ...filter, soFar: true })).catch(() => undefined);
    if (!isOver) callOff = clock.after(LOOK_MS, () => void lookAgain());
  };

  await waitAtMost(
    clock,
    FIRST_MS,
    look(filter).catch(() => undefined),
  );
  callOff = clock.after(LOOK_MS, () => void lookAgain());
  const end = () => {
    isOver = true;
    callOff();
    for (const watch of watches.values()) watch?.end();
    watches.clear();
    own.end();
  };
  return { end, ended: own.ended.finally(end) };
}

/** Returns a listener that adds the name of the node to each log line, like the reader of stored lines. */
function naming(node: string, listener: (notice: SwarmNotice) => void): (notice: SwarmNotice) => void {
  return (notice) => listener(notice.type === 'log' ? { ...notice, line: { ...notice.line, node } } : notice);
}
