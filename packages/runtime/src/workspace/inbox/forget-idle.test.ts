/** Instances without pending input leave the memory when no segment has anything about them any more. */
import { expect, test } from 'bun:test';
import type { AgentAddress } from '@goondan/types';
import { InstanceSlots } from '../journal/instance-slots.ts';
import { openJournal } from '../journal/journal.ts';
import { defaultLimits } from '../limits.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { simulatedLocation, simulatedMachine } from '../simulation/simulated-machine.ts';
import { runSimpleTurn, simpleEvent } from '../simulation/simulated-turn.ts';
import { WorkspaceInbox } from './workspace-inbox.ts';

const workspace = '/state/workspaces/simulation';
const at = (key: string): AgentAddress => ({ agentName: 'coder', instanceKey: key });
// Only a few instances stay known, and a segment has only a few lines.
const limits = { ...defaultLimits, inboxIds: 3, inboxCompactionBytes: 2000 };

/** Opens the inbox of a workspace, and a journal in which turns run as in the process of an agent. */
async function openBoth(disk: SimulatedDisk, life: number) {
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
  const has = async (number: number) =>
    (await disk.stat(`${workspace}/inbox/inbox.00000${number}.jsonl`)) !== undefined;
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
