import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { chooseVictims } from './choose-victims.ts';
import type { ProcessEntry } from './read-processes.ts';

const SELF = 50;
const entry = (pid: number, parent: number, group: number, isTagged = false): ProcessEntry => ({
  pid,
  parent,
  group,
  isTagged,
  command: 'x',
});
const choose = (...entries: ProcessEntry[]) => {
  const { processes, groups } = chooseVictims([entry(1, 0, 1), entry(SELF, 1, SELF), ...entries], SELF);
  return { pids: processes.map(({ pid }) => pid), groups };
};

describe('the processes to end are', () => {
  test('the tagged ones, and the groups they lead', () => {
    expect(choose(entry(10, 1, 10, true), entry(11, 1, 11))).toEqual({ pids: [10], groups: [10] });
  });

  test('all descendants of tagged processes, with or without a tag, in any group', () => {
    const tree = [entry(10, 1, 10, true), entry(12, 11, 12), entry(11, 10, 10), entry(13, 12, 13)];
    expect(choose(...tree)).toEqual({ pids: [10, 12, 11, 13], groups: [10, 12, 13] });
  });

  test('a group whose leader is gone', () => {
    expect(choose(entry(11, 1, 10, true), entry(12, 1, 10))).toEqual({ pids: [11], groups: [10] });
  });

  test('but not a group with a living leader outside the run', () => {
    expect(choose(entry(10, 1, 10), entry(11, 1, 10, true), entry(12, 10, 10))).toEqual({ pids: [11], groups: [] });
  });

  test('never the asking process or its group, even if it carries the tag', () => {
    const tree = [entry(51, SELF, SELF, true), entry(52, 1, SELF)];
    expect(choose(...tree)).toEqual({ pids: [51], groups: [] });
    const { processes, groups } = chooseVictims([entry(SELF, 1, 49, true), entry(60, 1, 49)], SELF);
    expect({ processes, groups }).toEqual({ processes: [], groups: [] });
  });

  test('never all processes: groups 0 and 1 are not groups to kill', () => {
    expect(choose(entry(2, 0, 0, true), entry(3, 0, 1, true)).groups).toEqual([]);
  });

  test('on any machine: each has the tag or an ancestor that has it', () => {
    const pid = fc.integer({ min: 2, max: 30 });
    const machine = fc.uniqueArray(fc.record({ pid, parent: pid, group: pid, isTagged: fc.boolean() }), {
      selector: (each) => each.pid,
    });
    fc.assert(
      fc.property(machine, pid, (list, self) => {
        const entries = list.map((each) => ({ ...each, command: 'x' }));
        const byPid = new Map(entries.map((each) => [each.pid, each]));
        const { processes, groups } = chooseVictims(entries, self);
        for (const victim of processes) {
          expect(victim.pid).not.toBe(self);
          const seen = new Set<number>();
          let at: ProcessEntry | undefined = victim;
          while (at !== undefined && !at.isTagged && !seen.has(at.pid)) {
            seen.add(at.pid);
            at = byPid.get(at.parent);
          }
          expect(at?.isTagged).toBe(true);
        }
        const tagged = entries.filter((each) => each.isTagged && each.pid !== self);
        expect(processes).toEqual(expect.arrayContaining(tagged));
        const chosen = new Set(processes.map((each) => each.pid));
        for (const group of groups) expect(chosen.has(group) || !byPid.has(group)).toBe(true);
        expect(groups).not.toContain(byPid.get(self)?.group);
      }),
      { numRuns: 500 },
    );
  });
});
