import { expect, test } from 'bun:test';
import type { Fs } from '../../ports/fs.ts';
import { failingFs } from '../simulation/failing-fs.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { coder, openSimulated as open } from '../simulation/simulated-journal.ts';
import { messagesOf, runSimpleTurn, simpleEvent, simpleRecords } from '../simulation/simulated-turn.ts';

const folder = '/state/workspaces/simulation/instances/coder~default';

test('counts messages, pending events and dead letters, and gives the times of creation and last change', async () => {
  const disk = SimulatedDisk.empty();
  const orchestrator = await open(disk);
  const agent = await open(disk);
  expect(await orchestrator.summary(coder)).toEqual({ messages: 0, pending: 0, deadLetters: 0 });
  for (const id of ['a', 'b', 'c']) await orchestrator.accept(coder, simpleEvent(id));
  expect(await orchestrator.summary(coder)).toEqual({ messages: 0, pending: 3, deadLetters: 0 });
  await runSimpleTurn(agent, coder, 'a');
  const first = await orchestrator.summary(coder);
  expect(first).toMatchObject({ messages: 2, pending: 2, deadLetters: 0 });
  await runSimpleTurn(agent, coder, 'b', { error: { code: 'E_DEAD_LETTER', message: 'no' } });
  const second = await agent.summary(coder);
  expect(second).toMatchObject({ messages: 4, pending: 1, deadLetters: 1 });
  expect(second.createdAt).toEqual(first.createdAt as Date);
  expect(second.updatedAt?.getTime()).toBeGreaterThan(first.updatedAt?.getTime() ?? Number.NaN);
});

test('counts the messages after a rewrite, a reset and a restart', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk);
  await runSimpleTurn(journal, coder, 'a');
  const { epoch } = await journal.open(coder, 'turn-b');
  const records = simpleRecords('b');
  await journal.append(coder, epoch, 0, records);
  const result = { turnId: 'turn-b', finishReason: 'text_response' } as const;
  const messages = messagesOf(records).slice(0, 1);
  await journal.commit(coder, epoch, 'turn-b', { type: 'rewrite', messages }, {}, result);
  expect((await journal.summary(coder)).messages).toBe(1);
  await runSimpleTurn(journal, coder, 'c');
  expect((await (await open(disk, 2)).summary(coder)).messages).toBe(3);
  await journal.reset(coder);
  expect((await journal.summary(coder)).messages).toBe(0);
});

test('reads nothing that grows with the conversation, and damage is an error', async () => {
  const disk = SimulatedDisk.empty();
  const agent = await open(disk);
  await runSimpleTurn(agent, coder, 'a');
  await agent.close();
  const read: string[] = [];
  let bytes = 0;
  const calm = failingFs(disk, () => undefined);
  const counted: Fs['read'] = async (path, ...range) => {
    const found = await calm.read(path, ...range);
    read.push(path.slice(folder.length + 1));
    if (path.endsWith('events.jsonl')) bytes += found?.length ?? 0;
    return found;
  };
  const journal = await open({ ...calm, read: counted }, 2);
  await journal.summary(coder);
  expect(read.toSorted()).toEqual(['messages/events.jsonl', 'metadata.json']);
  // Only the end of the log after the checkpoint is read: a line break and a zero.
  expect(bytes).toBe(2);
  await disk.remove(`${folder}/metadata.json`);
  expect(await rejectionOf(journal.summary(coder))).toMatchObject({ code: 'E_STORE_CORRUPT' });
});
