/**
 * Who belongs to a run: the tagged, what they started (a program may have been given an empty environment), and the
 * groups they lead or whose leader is gone. A group with a living leader that is none of ours is left alone: then only
 * its tagged members are meant.
 */
import type { ProcessEntry } from './read-processes.ts';

export interface Victims {
  readonly processes: readonly ProcessEntry[];
  readonly groups: readonly number[];
}

/** `self` is who asks: never a victim, nor its group. */
export function chooseVictims(entries: readonly ProcessEntry[], self: number): Victims {
  const ownGroup = entries.find(({ pid }) => pid === self)?.group;
  const chosen = new Set(entries.filter(({ isTagged }) => isTagged).map(({ pid }) => pid));
  addDescendants(entries, chosen);
  chosen.delete(self);
  const processes = entries.filter(({ pid }) => chosen.has(pid));
  const living = new Set(entries.map(({ pid }) => pid));
  const groups = new Set(processes.map(({ group }) => group));
  return {
    processes,
    // 0 and 1 mean something else to kill(2): the caller's own group, and everybody.
    groups: [...groups].filter((group) => group > 1 && group !== ownGroup && (chosen.has(group) || !living.has(group))),
  };
}

function addDescendants(entries: readonly ProcessEntry[], chosen: Set<number>): void {
  const children = Map.groupBy(entries, ({ parent }) => parent);
  // A set that grows while it is walked is walked to its new end.
  for (const pid of chosen) for (const child of children.get(pid) ?? []) chosen.add(child.pid);
}
