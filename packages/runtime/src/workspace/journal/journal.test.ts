import { expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { systemFs, type Fs } from '../../ports/fs.ts';
import type { StoreLimits } from '../limits.ts';
import { decodeReply } from '../records/reply.ts';
import { messagesOf, runSimpleTurn, simpleEvent, simpleRecords } from '../simulation/simulated-turn.ts';
import type { StoreWarning } from '../store-ports.ts';
import { durableStore } from './durable-store.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';

const coder = { agentName: 'coder', instanceKey: 'default' };
const temporary = temporaryFolder();

interface Options {
  readonly root?: string;
  readonly fs?: Fs;
  readonly limits?: Partial<StoreLimits>;
}

/** Opens a journal on the real disk. */
async function open({ root = newRoot(), fs = systemFs, limits }: Options = {}) {
  const warnings: StoreWarning[] = [];
  const warn = (warning: StoreWarning) => warnings.push(warning);
  const journal = await durableStore({ stateRoot: root, workspaceId: 'w', fs, warn, ...(limits && { limits }) });
  const folder = join(root, 'workspaces/w/instances/coder~default');
  return { journal, root, folder, warnings };
}

function newRoot(): string {
  return mkdtempSync(join(temporary, 'root-'));
}

const linesOf = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('M-09 a message is the same after a reload, and its createdAt is a Date again', async () => {
  const { journal, root } = await open();
  await runSimpleTurn(journal, coder, 'a', { text: 'ünïcode \u2028 "quoted" \ud83d\ude00' });
  const before = await journal.read(coder);
  await journal.close();
  const { journal: again } = await open({ root });
  const { messages } = await again.read(coder);
  expect(messages).toEqual(before.messages as never);
  for (const { createdAt } of messages) expect(createdAt).toBeInstanceOf(Date);
  const opened = await again.open(coder, 'turn-b');
  expect(await opened.loadBase()).toEqual(before.messages as never);
});

test('M-11 base.jsonl has messages only, events.jsonl the events of every turn', async () => {
  const { journal, folder } = await open({ limits: { shortBaseBytes: 0 } });
  await runSimpleTurn(journal, coder, 'a');
  await journal.close();
  const { epoch } = await journal.open(coder, 'turn-b');
  const records = simpleRecords('b');
  await journal.append(coder, epoch, 0, records);
  const base = linesOf(join(folder, 'messages/base.jsonl'));
  expect(base.map((line) => Object.keys(line))).toEqual(
    base.map(() => ['id', 'data', 'metadata', 'createdAt', 'source']),
  );
  expect(base.map(({ id }) => id)).toEqual(['input-a', 'answer-a']);
  const frames = linesOf(join(folder, 'messages/events.jsonl'));
  const [appended] = frames.slice(-1);
  expect(appended).toMatchObject({ turn: 'turn-b', seq: expect.any(Number), crc: expect.any(String) });
  expect(appended?.['records']).toMatchObject([
    { is: 'message', append: { id: 'input-b' } },
    { is: 'message', append: { id: 'answer-b' } },
    { is: 'step' },
  ]);
  expect(frames.map(({ turn, commit }) => [turn, commit !== undefined])).toEqual([
    [null, false],
    ['turn-a', false],
    ['turn-a', true],
    ['turn-b', false],
  ]);
});

test('M-11 an interrupted turn keeps its log, in order, and its base', async () => {
  const { journal, root } = await open();
  await runSimpleTurn(journal, coder, 'a');
  const { epoch } = await journal.open(coder, 'turn-b');
  const [input, answer, step] = simpleRecords('b');
  await journal.append(coder, epoch, 0, [input]);
  await journal.append(coder, epoch, 1, [{ type: 'intent', key: 'k', kind: 'tool' }, answer, step]);
  await journal.close();
  const { journal: again } = await open({ root });
  const opened = await again.open(coder, 'turn-b');
  expect(opened.log).toEqual([input, { type: 'intent', key: 'k', kind: 'tool' }, answer, step]);
  expect(opened.version).toBe(1);
  expect((await opened.loadBase()).map(({ id }) => id)).toEqual(['input-a', 'answer-a']);
});

test('M-07 the events of a failed turn are kept, and the next turn starts from them', async () => {
  const { journal, folder } = await open();
  await runSimpleTurn(journal, coder, 'a', { error: { message: 'no', code: 'E_MODEL_FAILED' } });
  expect((await journal.read(coder)).messages.map(({ id }) => id)).toEqual(['input-a', 'answer-a']);
  await journal.close();
  expect(linesOf(join(folder, 'metadata.json'))[0]).toMatchObject({ checkpoint: { status: 'failed' } });
});

test('X-12 extension state is in extensions/<name>.json after the checkpoint, and restored', async () => {
  const { journal, root, folder } = await open();
  await runSimpleTurn(journal, coder, 'a', { extensionState: { memo: { notes: ['one'] }, '../../x': 1 } });
  await journal.close();
  expect(JSON.parse(readFileSync(join(folder, 'extensions/memo.json'), 'utf8'))).toEqual({ notes: ['one'] });
  await runSimpleTurn(journal, coder, 'b', { extensionState: { memo: { notes: ['one', 'two'] } } });
  await journal.close();
  const { journal: again } = await open({ root });
  const opened = await again.open(coder, 'turn-c');
  expect({ ...opened.extensionState }).toEqual({ memo: { notes: ['one', 'two'] } });
  expect(readdirSync(join(folder, 'extensions'))).toEqual(['memo.json']);
});

test('X-12 unchanged state is not written again', async () => {
  const { journal, folder } = await open();
  await runSimpleTurn(journal, coder, 'a', { extensionState: { memo: 1 } });
  await journal.close();
  const before = statSync(join(folder, 'extensions/memo.json')).ino;
  await runSimpleTurn(journal, coder, 'b', { extensionState: { memo: 1 } });
  await journal.close();
  expect(statSync(join(folder, 'extensions/memo.json')).ino).toBe(before);
});

test('X-11 instances and extensions with similar names do not see each other’s state', async () => {
  const { journal } = await open();
  const keys = ['a.b', 'a/b', 'A.B', '한글', '日本', '..', `${'k'.repeat(128)}1`, `${'k'.repeat(128)}2`];
  const addresses = keys.map((instanceKey) => ({ agentName: 'coder', instanceKey }));
  for (const address of addresses) {
    const { instanceKey } = address;
    await runSimpleTurn(journal, address, 'e', {
      extensionState: { 'x.y': `dot ${instanceKey}`, 'x/y': `slash ${instanceKey}`, __proto__x: 0 },
    });
  }
  for (const address of addresses) {
    const { extensionState, messages } = await journal.read(address);
    expect(extensionState['x.y']).toBe(`dot ${address.instanceKey}`);
    expect(extensionState['x/y']).toBe(`slash ${address.instanceKey}`);
    expect(messages.length).toBe(2);
  }
  expect((await journal.instances()).map(({ instanceKey }) => instanceKey).toSorted()).toEqual([...keys].toSorted());
});

test('everything is under the state root, folders 0700 and files 0600', async () => {
  const { journal, root } = await open();
  await journal.accept(coder, simpleEvent('a', { replyTo: { target: 't', correlationId: 'c' } }));
  await runSimpleTurn(journal, coder, 'a', { extensionState: { memo: 1 } });
  const events = await journal.openRuntimeEvents(coder);
  await events.append([{ type: 'turn.started' }]);
  await events.close();
  await journal.close();
  const paths = readdirSync(root, { recursive: true, withFileTypes: true });
  expect(paths.length).toBeGreaterThan(10);
  for (const entry of paths) {
    const { mode } = statSync(join(entry.parentPath, entry.name));
    expect([entry.name, (mode & 0o777).toString(8)]).toEqual([entry.name, entry.isDirectory() ? '700' : '600']);
  }
});

test('a committed turn is not run again: open gives its result, also after a restart', async () => {
  const { journal, root } = await open();
  await runSimpleTurn(journal, coder, 'a');
  await runSimpleTurn(journal, coder, 'b');
  const { finished } = await journal.open(coder, 'turn-a');
  expect(finished).toMatchObject({ turnId: 'turn-a', responseMessage: { id: 'answer-a' } });
  await journal.close();
  const { journal: again } = await open({ root });
  expect((await again.open(coder, 'turn-a')).finished).toEqual(finished as never);
  expect((await again.open(coder, 'turn-b')).finished?.responseMessage?.createdAt).toBeInstanceOf(Date);
});

test('a turn without an accepted event gives way to the next turn, with a warning', async () => {
  const { journal, root } = await open();
  const { epoch } = await journal.open(coder, 'turn-a');
  await journal.append(coder, epoch, 0, simpleRecords('a'));
  await journal.close();
  const { journal: again, warnings } = await open({ root });
  await runSimpleTurn(again, coder, 'b');
  expect(warnings.map(({ message }) => message)).toEqual([
    'dropped turn a, which had been interrupted and was not resumed',
  ]);
  expect((await again.read(coder)).messages.map(({ id }) => id)).toEqual(['input-b', 'answer-b']);
});

test('an answer in the outbox has its caller and its message, also after a restart', async () => {
  const { journal, root } = await open();
  const replyTo = { target: 'client', correlationId: '7' };
  await journal.accept(coder, simpleEvent('a', { replyTo }));
  await runSimpleTurn(journal, coder, 'a');
  await journal.close();
  const { journal: again } = await open({ root });
  const [entry] = await again.outbox.pending(coder);
  expect(decodeReply(entry?.value ?? null)).toMatchObject({ replyTo, result: { responseMessage: { id: 'answer-a' } } });
});

test('a result longer than the first read of the log is still known after a restart', async () => {
  const { journal, root } = await open();
  await journal.accept(coder, simpleEvent('a', { replyTo: { target: 'client', correlationId: '7' } }));
  await runSimpleTurn(journal, coder, 'a', { text: 'x'.repeat(3 * 2 ** 20) });
  await journal.close();
  const { journal: again } = await open({ root });
  expect((await again.open(coder, 'turn-a')).finished?.responseMessage?.id).toBe('answer-a');
});

test('no turn starts while the outbox is full', async () => {
  const { journal } = await open({ limits: { outboxEntries: 1 } });
  await journal.outbox.add(coder, 'k', 'anything');
  expect(await rejectionOf(journal.outbox.add(coder, 'l', 'more'))).toMatchObject({ code: 'E_OUTBOX_FULL' });
  expect(await rejectionOf(journal.open(coder, 'turn-a'))).toMatchObject({ code: 'E_OUTBOX_FULL' });
  await journal.outbox.acknowledge(coder, 'k');
  await runSimpleTurn(journal, coder, 'a');
});

test('a given-up event is a dead letter: folded, listed, retried as a new event or dropped', async () => {
  const { journal, root } = await open();
  const error = { code: 'E_DEAD_LETTER', message: 'crashed three times' };
  for (const id of ['a', 'b']) {
    await journal.accept(coder, simpleEvent(id));
    await runSimpleTurn(journal, coder, id, { error });
  }
  expect((await journal.read(coder)).messages.length).toBe(4);
  await journal.close();
  const { journal: again } = await open({ root });
  const letters = await again.deadLetters.list(coder);
  expect(letters.map(({ event }) => event)).toEqual([simpleEvent('a'), simpleEvent('b')]);
  expect(letters[0]).toMatchObject({ reason: 'crashed three times', crashes: 0, deadAt: expect.any(Date) });
  expect(await again.deadLetters.retry(coder, 'a')).toBe(true);
  expect(await again.deadLetters.retry(coder, 'a')).toBe(false);
  await again.deadLetters.drop(coder, 'b');
  expect(await again.deadLetters.list(coder)).toEqual([]);
  expect((await again.pending(coder)).map(({ id }) => id)).toEqual(['a~retry']);
});

test('dropping a dead letter and acknowledging an answer leave the instance free for its agent', async () => {
  const { journal: agent, root } = await open();
  const { journal: orchestrator } = await open({ root });
  await orchestrator.accept(coder, simpleEvent('a', { replyTo: { target: 'client', correlationId: '7' } }));
  await runSimpleTurn(agent, coder, 'a', { error: { code: 'E_DEAD_LETTER', message: 'no' } });
  expect(await rejectionOf(orchestrator.deadLetters.retry(coder, 'a'))).toMatchObject({ code: 'E_LOCKED' });
  await agent.close();
  expect(await orchestrator.deadLetters.retry(coder, 'a')).toBe(true);
  await orchestrator.outbox.acknowledge(coder, 'turn-a');
  expect((await agent.pending(coder)).map(({ id }) => id)).toEqual(['a~retry']);
  await runSimpleTurn(agent, coder, 'a~retry');
  expect(await agent.outbox.pending(coder)).toMatchObject([{ key: 'turn-a~retry' }]);
});

test('the oldest dead letter above the limit is dropped, with a warning', async () => {
  const { journal, warnings } = await open({ limits: { deadLetters: 2 } });
  for (const id of ['a', 'b', 'c']) {
    await journal.accept(coder, simpleEvent(id));
    await runSimpleTurn(journal, coder, id, { error: { code: 'E_DEAD_LETTER', message: 'no' } });
  }
  expect((await journal.deadLetters.list(coder)).map(({ event }) => event.id)).toEqual(['b', 'c']);
  expect(warnings.length).toBe(1);
});

test('a folder of another instance is rejected with E_STORE_INSTANCE', async () => {
  const { journal, root, folder } = await open();
  await runSimpleTurn(journal, coder, 'a');
  await runSimpleTurn(journal, { ...coder, instanceKey: 'other' }, 'a');
  await journal.close();
  writeFileSync(join(folder, 'metadata.json'), readFileSync(join(folder, '../coder~other/metadata.json')));
  const { journal: again } = await open({ root });
  expect(await rejectionOf(again.open(coder, 'turn-b'))).toMatchObject({ code: 'E_STORE_INSTANCE' });
  expect(await rejectionOf(again.read(coder))).toMatchObject({ code: 'E_STORE_INSTANCE' });
});

test('a lost metadata.json is not a new conversation', async () => {
  const { journal, root, folder } = await open();
  await runSimpleTurn(journal, coder, 'a');
  await journal.close();
  rmSync(join(folder, 'metadata.json'));
  const { journal: again } = await open({ root });
  expect(await rejectionOf(again.open(coder, 'turn-b'))).toMatchObject({ code: 'E_STORE_CORRUPT' });
  expect(await rejectionOf(again.read(coder))).toMatchObject({ code: 'E_STORE_CORRUPT' });
  expect(readdirSync(folder)).not.toContain('metadata.json');
});

test('a damaged file is copied aside once, however often it is opened', async () => {
  const { journal, root, folder } = await open({ limits: { shortBaseBytes: 0 } });
  await runSimpleTurn(journal, coder, 'a');
  await journal.close();
  const path = join(folder, 'messages/base.jsonl');
  writeFileSync(path, readFileSync(path, 'utf8').replace('answer', 'ANSWER'));
  const { journal: again } = await open({ root });
  for (let attempt = 0; attempt < 3; attempt += 1) {
    expect(await rejectionOf(again.open(coder, 'turn-b'))).toMatchObject({
      code: 'E_STORE_CORRUPT',
      message: expect.stringContaining('.corrupt-'),
    });
  }
  const copies = readdirSync(join(folder, 'messages')).filter((name) => name.startsWith('base.jsonl.corrupt-'));
  expect(copies.length).toBe(1);
});

test('a turn writes only its news: at most 2 KB, at 10 000 messages as much as at 10, and reads no history', async () => {
  const { fs, written, read } = measuredFs();
  const { journal } = await open({ fs });
  const measure = async (eventId: string) => {
    written.bytes = 0;
    read.paths.length = 0;
    await journal.accept(coder, simpleEvent(eventId));
    await runSimpleTurn(journal, coder, eventId);
    expect(read.paths.filter((path) => /base|archive|events|turn\.jsonl/.test(path))).toEqual([]);
    return written.bytes;
  };
  await journal.accept(coder, simpleEvent('e000'));
  await runSimpleTurn(journal, coder, 'e000');
  const atTen = await measure('e001');
  const { epoch } = await journal.open(coder, 'turn-many');
  const many = Array.from({ length: 10_000 }, (_, index) => messagesOf(simpleRecords(`m${index}`))[0]).filter(
    (each) => each !== undefined,
  );
  const result = { turnId: 'turn-many', finishReason: 'text_response' } as const;
  await journal.commit(coder, epoch, 'turn-many', { type: 'append', messages: many }, {}, result);
  // The long commit is followed by a checkpoint. Reading waits for it.
  await journal.history(coder);
  await measure('e002');
  const atTenThousand = await measure('e003');
  expect(atTen).toBeLessThan(2048);
  expect(atTenThousand).toBeLessThan(1.2 * atTen);
});

/** Wraps the real disk, counts the written bytes and lists the reads. */
function measuredFs() {
  const written = { bytes: 0 };
  const read = { paths: [] as string[] };
  const fs: Fs = {
    ...systemFs,
    read(path, from, length) {
      read.paths.push(path);
      return systemFs.read(path, from, length);
    },
    async openRoom(path) {
      const file = await systemFs.openRoom(path);
      const count = (bytes: Uint8Array) => (written.bytes += bytes.length);
      return {
        ...file,
        write: (at, bytes) => (count(bytes), file.write(at, bytes)),
        writeThrough: (at, bytes) => (count(bytes), file.writeThrough(at, bytes)),
      };
    },
    async openFile(path) {
      const file = await systemFs.openFile(path);
      return {
        ...file,
        append(bytes) {
          written.bytes += bytes.length;
          return file.append(bytes);
        },
      };
    },
  };
  return { fs, written, read };
}
