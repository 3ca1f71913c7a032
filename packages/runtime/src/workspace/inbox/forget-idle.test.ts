/** Instances without pending input leave the memory when no segment has anything about them any more. */
import { describe, expect, test } from 'bun:test';
import type { AgentAddress } from '@goondan/types';
import type { Fs } from '../../ports/fs.ts';
import { InstanceSlots } from '../journal/instance-slots.ts';
import { openJournal } from '../journal/journal.ts';
import { defaultLimits, type StoreLimits } from '../limits.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { simulatedLocation, simulatedMachine } from '../simulation/simulated-machine.ts';
import { runSimpleTurn, simpleEvent } from '../simulation/simulated-turn.ts';
import { InstanceInbox } from './instance-inbox.ts';
import { InboxContents } from './read-inbox-log.ts';
import { WorkspaceInbox } from './workspace-inbox.ts';

const workspace = '/state/workspaces/simulation';
const segmentOf = (number: number) => `${workspace}/inbox/inbox.${String(number).padStart(6, '0')}.jsonl`;
const at = (key: string): AgentAddress => ({ agentName: 'coder', instanceKey: key });
// Only a few instances stay known, and a segment has only a few lines.
const few = { ...defaultLimits, inboxIds: 3, inboxCompactionBytes: 2000 };

/** Opens the inbox of a workspace, and a journal in which turns run as in the process of an agent. */
async function openBoth(disk: Fs, life: number, more: Partial<StoreLimits> = {}) {
  const limits = { ...few, ...more };
  const ports = simulatedMachine(disk, life);
  const agent = await openJournal(ports, simulatedLocation, limits);
  const slots = new InstanceSlots(ports, simulatedLocation, limits);
  const storedAt = (address: AgentAddress) => slots.storedAt(address);
  const inbox = new WorkspaceInbox({ ...ports, workspace, limits, pace: slots.pace, storedAt });
  const accept = (key: string, id: string) => inbox.accept(at(key), simpleEvent(id));
  const run = async (key: string, id: string) => {
    await runSimpleTurn(agent, at(key), id);
    inbox.handled(at(key), id);
  };
  return { inbox, agent, accept, run };
}

test('of 200 conversations whose input is handled, only those of the last segments are in memory', async () => {
  const disk = SimulatedDisk.empty();
  const { inbox, accept, run } = await openBoth(disk, 1);
  await accept('waits', 'pending');
  const sizes: number[] = [];
  for (let index = 0; index < 200; index += 1) {
    await accept(`k${index}`, 'a');
    await run(`k${index}`, 'a');
    sizes.push((await inbox.open()).size);
  }
  expect(Math.max(...sizes)).toBeLessThan(60);
  expect((await inbox.pendingEntries(at('waits'))).map(({ event }) => event.id)).toEqual(['pending']);
  // A forgotten conversation goes on where it was: its handled event is known, and the next number follows.
  expect(await accept('k0', 'a')).toEqual({ accepted: true, duplicate: true });
  expect(await accept('k0', 'b')).toMatchObject({ duplicate: false, seq: 2 });
});

test('a number that a cancel mark has had is not used again while the log has the mark', async () => {
  const disk = SimulatedDisk.empty();
  const { inbox, accept, run } = await openBoth(disk, 1);
  // The first segment stays, because this event is not handled.
  await accept('waits', 'pending');
  await accept('x', 'a');
  await inbox.cancel(at('x'), 'a', 'enough');
  await run('x', 'a');
  const names = async () => ((await disk.list(`${workspace}/inbox`)) ?? []).filter((name) => name.startsWith('inbox.'));
  for (let index = 0; (await names()).length < 2; index += 1) {
    await accept(`k${index}`, 'a');
    await run(`k${index}`, 'a');
  }
  expect(await accept('x', 'b')).toMatchObject({ duplicate: false, seq: 3 });
  const reader = (await openBoth(disk, 1)).inbox;
  expect((await reader.pendingEntries(at('x'))).map(({ event }) => event.id)).toEqual(['b']);
});

test('a number that a cancel mark has had is not used again while the log has only the note that it is handled', async () => {
  const disk = SimulatedDisk.empty();
  const { inbox, accept, run } = await openBoth(disk, 1);
  const has = async (number: number) => (await disk.stat(segmentOf(number))) !== undefined;
  let fillers = 0;
  const fillUntil = async (isEnough: () => Promise<boolean>) => {
    while (!(await isEnough())) {
      await accept(`k${fillers}`, 'a');
      await run(`k${fillers++}`, 'a');
    }
  };
  // With this much pending input, no line is copied at first.
  await accept('waits', 'long'.repeat(60));
  await accept('x', 'a');
  await inbox.cancel(at('x'), 'a', 'enough');
  expect(await has(2)).toBe(false);
  await fillUntil(() => has(3));
  expect(await has(1)).toBe(true);
  await run('x', 'a');
  // The note is written together with this line, which keeps its segment.
  await accept('stays', 'pending');
  await fillUntil(async () => !(await has(1)));
  expect([await has(2), await has(3)]).toEqual([false, true]);
  expect(await accept('x', 'b')).toMatchObject({ duplicate: false, seq: 3 });
  const reader = (await openBoth(disk, 1)).inbox;
  expect((await reader.pendingEntries(at('x'))).map(({ event }) => event.id)).toEqual(['b']);
});

test('an instance that is in use stays known, so its next input survives the compactions after it', async () => {
  const disk = SimulatedDisk.empty();
  // All instances stay in use.
  const { inbox, accept, run } = await openBoth(disk, 1, { inboxIds: 100_000 });
  const has = async (number: number) => (await disk.stat(segmentOf(number))) !== undefined;
  let fillers = 0;
  const fillUntil = async (isEnough: () => Promise<boolean>) => {
    while (!(await isEnough())) {
      await accept('busy', `${fillers}`);
      await run('busy', `${fillers++}`);
    }
  };
  await accept('x', 'a');
  await run('x', 'a');
  await fillUntil(async () => (await has(4)) && !(await has(3)));
  expect(await accept('x', 'b')).toMatchObject({ duplicate: false, seq: 2 });
  await fillUntil(async () => (await has(12)) && !(await has(4)) && !(await has(5)));
  expect((await inbox.pendingEntries(at('x'))).map(({ event }) => event.id)).toEqual(['b']);
  const reader = (await openBoth(disk, 1)).inbox;
  expect((await reader.pendingEntries(at('x'))).map(({ event }) => event.id)).toEqual(['b']);
});

describe('with a segment for each write, a number that a cancel mark has had is not used again', () => {
  const long = 'long'.repeat(5000);

  test('while the log has only the note of its event in the segment that began with the note', async () => {
    const disk = SimulatedDisk.empty();
    const { inbox, accept, run } = await openBoth(disk, 1, { inboxCompactionBytes: 1 });
    const numbers = async () =>
      ((await disk.list(`${workspace}/inbox`)) ?? []).flatMap(
        (name) => /^inbox\.0*(\d+)\.jsonl$/.exec(name)?.[1] ?? [],
      );
    await accept('waits', long);
    await accept('x', 'a');
    await inbox.cancel(at('x'), 'a', 'enough');
    await run('x', 'a');
    const newest = Math.max(...(await numbers()).map(Number));
    // The note is written together with this line, in the next segment.
    await accept('stays', `${long}${long}`);
    await run('waits', long);
    for (let index = 0; index < 6; index += 1) {
      await accept(`k${index}`, 'a');
      await run(`k${index}`, 'a');
    }
    expect(Math.min(...(await numbers()).map(Number))).toBe(newest + 1);
    expect(await accept('x', 'b')).toMatchObject({ duplicate: false, seq: 3 });
    const reader = (await openBoth(disk, 1)).inbox;
    expect((await reader.pendingEntries(at('x'))).map(({ event }) => event.id)).toEqual(['b']);
  });

  test('if a compaction has found in the log of the instance that its event is handled', async () => {
    const disk = SimulatedDisk.empty();
    const { inbox, agent, accept, run } = await openBoth(disk, 1, { inboxCompactionBytes: 1, inboxIds: 20 });
    await accept('x', 'a');
    await run('x', 'a');
    // The instance stays in use, and no segment has anything about it.
    for (let index = 0; index < 6; index += 1) {
      await accept('busy', `${index}`);
      await run('busy', `${index}`);
    }
    // The first line keeps its segment, and all segments after it. The second one is in the same segment.
    await Promise.all([accept('stays', long), accept('x', 'b')]);
    await inbox.cancel(at('x'), 'b', 'enough');
    await runSimpleTurn(agent, at('x'), 'b');
    for (let index = 0; index < 20; index += 1) {
      await accept(`k${index}`, 'a');
      await run(`k${index}`, 'a');
    }
    expect(await accept('x', 'c')).toMatchObject({ duplicate: false, seq: 4 });
    const reader = (await openBoth(disk, 1)).inbox;
    expect((await reader.pendingEntries(at('x'))).map(({ event }) => event.id)).toEqual(['c']);
  });
});

describe('an instance is not idle', () => {
  const line = { payload: { deleting: true }, segment: 1, bytes: 10 } as const;
  const states: Readonly<Record<string, (inbox: InstanceInbox) => void>> = {
    'with a pending line': (inbox) => inbox.add(1, { ...line, payload: { event: simpleEvent('a') } }),
    'with a damaged line': (inbox) => inbox.lose(1, { segment: 1, path: '' }),
    'after a deletion whose lines are still in the files': (inbox) =>
      inbox.add(1, { ...line, payload: { deleted: true } }, 7),
    'while a line is being written': (inbox) => void (inbox.queuedBytes += 10),
    'in a deletion whose end nothing tells': (inbox) => {
      inbox.add(1, line);
      inbox.take(1);
    },
  };
  test.each(Object.entries(states))('%s', (_, change) => {
    const inbox = new InstanceInbox(at('x'));
    expect(inbox.isIdle).toBe(true);
    change(inbox);
    expect(inbox.isIdle).toBe(false);
  });
});

test('an idle instance is known as long as a segment may have something about it', () => {
  const contents = new InboxContents();
  const nobody = () => false;
  contents.inboxOf(at('x'), 3);
  contents.forgetIdle(3, nobody);
  expect(contents.inboxes.size).toBe(1);
  // Its lines are in segment 5 now.
  contents.inboxOf(at('x'), 3).move(new Set([3]), 5);
  contents.forgetIdle(5, nobody);
  expect(contents.inboxes.size).toBe(1);
  contents.forgetIdle(6, () => true);
  expect(contents.inboxes.size).toBe(1);
  contents.forgetIdle(6, nobody);
  expect(contents.inboxes.size).toBe(0);
});
