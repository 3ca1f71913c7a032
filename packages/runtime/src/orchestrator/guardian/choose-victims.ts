/**
 * Chooses the processes of a run: tagged processes, their descendants (which may have an empty environment), and
 * process groups whose leader belongs to the run or has exited. In a group with a living leader outside the run, only
 * tagged members are chosen.
 */
import type { ProcessEntry } from './read-processes.ts';

/** Chooses the processes. `self` is the calling process. It is never chosen, and its group is never chosen either. */
export function chooseVictims(
  entries: readonly ProcessEntry[],
  self: number,
): { readonly processes: readonly ProcessEntry[]; readonly groups: readonly number[] } {
  const ownGroup = entries.find(({ pid }) => pid === self)?.group;
  const chosen = new Set(entries.filter(({ isTagged }) => isTagged).map(({ pid }) => pid));
  addDescendants(entries, chosen);
  chosen.delete(self);
  const processes = entries.filter(({ pid }) => chosen.has(pid));
  const living = new Set(entries.map(({ pid }) => pid));
  const groups = new Set(processes.map(({ group }) => group));
  return {
    processes,
    // kill(2) reads 0 as the caller's own group and 1 as all processes.
    groups: [...groups].filter((group) => group > 1 && group !== ownGroup && (chosen.has(group) || !living.has(group))),
  };
}

function addDescendants(entries: readonly ProcessEntry[], chosen: Set<number>): void {
  const children = Map.groupBy(entries, ({ parent }) => parent);
  // A set that grows during its iteration is iterated to its new end.
  for (const pid of chosen) for (const child of children.get(pid) ?? []) chosen.add(child.pid);
}
