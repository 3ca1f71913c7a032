import { expect, spyOn, test } from 'bun:test';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { systemFs, type Fs } from '../../ports/fs.ts';
import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';
import { messagesOf, runSimpleTurn, simpleEvent, simpleRecords } from '../simulation/simulated-turn.ts';
import { durableStore } from './durable-store.ts';

const coder = { agentName: 'coder', instanceKey: 'default' };
const stateRoot = temporaryFolder();

/** Wraps the real disk and counts the syncs, by the name of the file. */
function countedFs() {
  const syncs: string[] = [];
  const note = (path: string) => syncs.push(path.slice(path.lastIndexOf('/') + 1));
  const fs: Fs = {
    ...systemFs,
    syncFolder: (path) => (note(path), systemFs.syncFolder(path)),
    async openFile(path) {
      const file = await systemFs.openFile(path);
      return { ...file, sync: () => (note(path), file.sync()) };
    },
    async openRoom(path) {
      const file = await systemFs.openRoom(path);
      const writeThrough = (at: number, bytes: Uint8Array) => (note(path), file.writeThrough(at, bytes));
      return { ...file, writeThrough, sync: () => (note(path), file.sync()) };
    },
  };
  return { fs, syncs };
}

test('a turn of one step has 2 syncs, and one of ten steps with nine tools 11, whatever the length of the history', async () => {
  const { fs, syncs } = countedFs();
  const journal = await durableStore({ stateRoot, workspaceId: 'w', fs });
  const counted = async (id: string, run: () => Promise<void>) => {
    syncs.length = 0;
    await journal.accept(coder, simpleEvent(id));
    await run();
    return [
      syncs.filter((name) => name === 'inbox.000001.jsonl').length,
      syncs.filter((name) => name === 'events.jsonl').length,
    ];
  };
  const tenSteps = async (id: string) => {
    const turnId = `turn-${id}`;
    const [told] = await journal.pendingEntries(coder);
    const { epoch } = await journal.open(coder, turnId, told);
    let at = 0;
    const append = async (...records: TurnRecord[]) => {
      await journal.append(coder, epoch, at, records);
      at += records.length;
    };
    const [input, answer, step] = simpleRecords(id);
    await append(input);
    for (let tool = 0; tool < 9; tool += 1) {
      await append({ type: 'intent', key: `${tool}`, kind: 'tool' });
      await append({ type: 'effect', key: `${tool}`, kind: 'tool', outcome: { ok: true, value: 'done' } });
      await append(step);
    }
    await append(answer, step);
    const result = { turnId, finishReason: 'text_response' } as const;
    await journal.commit(coder, epoch, turnId, { type: 'append', messages: messagesOf([input, answer]) }, {}, result);
  };
  await journal.accept(coder, simpleEvent('first'));
  await runSimpleTurn(journal, coder, 'first');
  expect(await counted('one', () => runSimpleTurn(journal, coder, 'one'))).toEqual([1, 1]);
  expect(syncs).toHaveLength(2);
  await tenSteps('grow');
  expect(await counted('ten', () => tenSteps('ten'))).toEqual([1, 10]);
  expect(syncs).toHaveLength(11);
  await journal.close();
});

test('a turn of one step makes few JSON texts: each part of its records once, and none of the result', async () => {
  const journal = await durableStore({ stateRoot, workspaceId: 'texts' });
  await journal.accept(coder, simpleEvent('first'));
  await runSimpleTurn(journal, coder, 'first');
  await journal.accept(coder, simpleEvent('second'));
  const stringify = spyOn(JSON, 'stringify');
  try {
    await runSimpleTurn(journal, coder, 'second');
    expect(stringify.mock.calls.length).toBeLessThanOrEqual(15);
  } finally {
    stringify.mockRestore();
    await journal.close();
  }
});

test('a turn looks at its lock once when it opens, and once before each write', async () => {
  let looks = 0;
  let writes = 0;
  const fs: Fs = {
    ...systemFs,
    async openLock(path) {
      const held = await systemFs.openLock(path);
      return { ...held, isReplaced: () => ((looks += 1), held.isReplaced()) };
    },
    async openRoom(path) {
      const file = await systemFs.openRoom(path);
      const note = () => void (writes += path.endsWith('events.jsonl') ? 1 : 0);
      const write = (at: number, bytes: Uint8Array) => (note(), file.write(at, bytes));
      const writeThrough = (at: number, bytes: Uint8Array) => (note(), file.writeThrough(at, bytes));
      return { ...file, write, writeThrough };
    },
  };
  const journal = await durableStore({ stateRoot, workspaceId: 'looks', fs });
  await journal.accept(coder, simpleEvent('first'));
  await runSimpleTurn(journal, coder, 'first');
  await journal.accept(coder, simpleEvent('second'));
  const [told] = await journal.pendingEntries(coder);
  const [input, answer, step] = simpleRecords('second');
  looks = 0;
  writes = 0;
  const { epoch } = await journal.open(coder, 'turn-second', told);
  await journal.append(coder, epoch, 0, [input]);
  const delta = { type: 'append', messages: messagesOf([input, answer]) } as const;
  const result = { turnId: 'turn-second', finishReason: 'text_response' } as const;
  await journal.commit(coder, epoch, 'turn-second', delta, {}, result, { at: 1, records: [answer, step] });
  expect({ looks, writes }).toEqual({ looks: 3, writes: 2 });
  await journal.close();
});
