import { describe, expect, test } from 'bun:test';
import { createSystemMessage, GoondanError } from '@goondan/types';
import { samples } from '../../../../../test/samples.ts';
import { blame } from '../history/blame.ts';
import { readConversationAt } from '../history/read-conversation-at.ts';
import { readHistory } from '../history/read-history.ts';
import { failingFs, systemError } from '../simulation/failing-fs.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import {
  bytesOf,
  coder,
  idsOf as ids,
  momentsOf,
  openOwner,
  openSimulated as open,
  overwrite,
} from '../simulation/simulated-journal.ts';
import { runSimpleTurn, simpleEvent, simpleRecords } from '../simulation/simulated-turn.ts';
import { writeRandomHistory } from '../simulation/write-random-history.ts';
import { defaultLimits } from '../limits.ts';
import type { Journal } from './journal.ts';

const copy = { agentName: 'coder', instanceKey: 'copy' };
const instances = '/state/workspaces/simulation/instances';

/** Runs three turns, each with its own state, and closes all files. */
async function talk(disk: SimulatedDisk): Promise<void> {
  const agent = await open(disk);
  for (const id of ['a', 'b', 'c']) await runSimpleTurn(agent, coder, id, { extensionState: { memo: id } });
  await agent.close();
}

test('the fork has the messages and states of that moment, names its origin, and continues on its own', async () => {
  const disk = SimulatedDisk.empty();
  await talk(disk);
  const journal = await open(disk, 2);
  await journal.accept(coder, simpleEvent('waits'));
  expect(await journal.fork(coder, { as: 'copy', at: 3 })).toEqual({ seq: 3, messages: 3, unknownStates: [] });
  expect(await journal.read(copy)).toMatchObject({ version: 1, extensionState: { memo: 'a' } });
  expect(ids((await journal.read(copy)).messages)).toEqual(['input-a', 'answer-a', 'input-b']);
  expect(await journal.pending(copy)).toEqual([]);
  expect(await journal.hasWork(copy)).toBe(false);
  expect(await journal.summary(copy)).toMatchObject({ messages: 3, pending: 0, deadLetters: 0 });

  const { last, turns } = await readHistory(journal, copy);
  expect(last).toBe(3);
  expect(turns).toMatchObject([
    {
      turnId: 'fork-1',
      version: 1,
      result: 'fork',
      fork: { instanceKey: 'default', seq: 3 },
      events: [
        { seq: 1, author: { kind: 'input' }, origin: { instanceKey: 'default', turnId: 'turn-a', seq: 1 } },
        { seq: 2, author: { kind: 'model' }, origin: { instanceKey: 'default', turnId: 'turn-a', seq: 2 } },
        { seq: 3, author: { kind: 'input' }, origin: { instanceKey: 'default', turnId: 'turn-b', seq: 3 } },
      ],
    },
  ]);

  await journal.accept(copy, simpleEvent('x'));
  const agent = await open(disk, 2);
  await runSimpleTurn(agent, copy, 'x');
  await agent.close();
  const again = await open(disk, 3);
  expect(ids((await again.read(copy)).messages)).toEqual(['input-a', 'answer-a', 'input-b', 'input-x', 'answer-x']);
  expect((await readConversationAt(again, copy, 4)).messages).toHaveLength(4);
  expect((await again.open(copy, 'turn-x')).finished?.turnId).toBe('turn-x');
  expect(ids((await again.read(coder)).messages)).toHaveLength(6);
  expect((await again.pending(coder)).map(({ id }) => id)).toEqual(['waits']);
});

test('a fork at any moment of a random history equals the conversation at that moment', async () => {
  const disk = SimulatedDisk.empty();
  const agent = await open(disk);
  const expected = await writeRandomHistory(agent, coder, seededRandom(11), 60);
  await agent.close();
  const journal = await open(disk, 2);
  for (const seq of expected.conversations.keys()) {
    const at = { agentName: 'coder', instanceKey: `copy-${seq}` };
    await journal.fork(coder, { as: at.instanceKey, at: seq });
    const lasting = (expected.conversations[seq] ?? []).filter(({ lifetime }) => lifetime === undefined);
    const { messages, extensionState } = await journal.read(at);
    expect({ seq, messages }).toEqual({ seq, messages: lasting });
    expect(extensionState).toEqual(expected.states[seq] ?? {});
    expect((await readConversationAt(journal, at)).messages).toEqual(lasting);
  }
});

test('ephemeral messages of a finished step are not copied', async () => {
  const journal = await open(SimulatedDisk.empty());
  const { epoch } = await journal.open(coder, 'turn-a');
  const hint = createSystemMessage('a hint', {}, { id: 'hint', lifetime: 'step' });
  const [input, answer, step] = simpleRecords('a');
  const author = { kind: 'extension', name: 'hints' } as const;
  await journal.append(coder, epoch, 0, [
    input,
    { type: 'message', event: { type: 'append', message: hint }, author },
    answer,
    { type: 'message', event: { type: 'remove', targetId: 'hint' }, author: { kind: 'runtime' } },
    step,
  ]);
  const messages = [input, answer].flatMap((each) =>
    each.type === 'message' && 'message' in each.event ? [each.event.message] : [],
  );
  const result = { turnId: 'turn-a', finishReason: 'text_response' } as const;
  await journal.commit(coder, epoch, 'turn-a', { type: 'append', messages }, {}, result);
  expect(ids((await readConversationAt(journal, coder, 3)).messages)).toEqual(['input-a', 'hint', 'answer-a']);
  await journal.fork(coder, { as: 'copy', at: 3 });
  expect(ids((await journal.read(copy)).messages)).toEqual(['input-a', 'answer-a']);
});

test('blame of a fork, and of a fork of it, names the conversation that a message was first added to', async () => {
  const disk = SimulatedDisk.empty();
  await talk(disk);
  const journal = await open(disk, 2);
  await journal.fork(coder, { as: 'copy', at: 2 });
  await runSimpleTurn(journal, copy, 'x');
  await journal.fork(copy, { as: 'second' });
  const second = { agentName: 'coder', instanceKey: 'second' };
  const { messages } = await blame(journal, second);
  expect(messages.map(({ seq, turnId, author, origin }) => [seq, turnId, author.kind, origin])).toEqual([
    [1, 'fork-1', 'input', { instanceKey: 'default', turnId: 'turn-a', seq: 1 }],
    [2, 'fork-1', 'model', { instanceKey: 'default', turnId: 'turn-a', seq: 2 }],
    [3, 'fork-1', 'input', { instanceKey: 'copy', turnId: 'turn-x', seq: 3 }],
    [4, 'fork-1', 'model', { instanceKey: 'copy', turnId: 'turn-x', seq: 4 }],
  ]);
  expect((await readHistory(journal, second)).turns[0]?.fork).toEqual({ instanceKey: 'copy', seq: 4 });
});

test('a state too long for the archive is copied from the newest moment; at other moments it is reported by name', async () => {
  const journal = await open(SimulatedDisk.empty());
  const long = 'x'.repeat(70_000);
  await runSimpleTurn(journal, coder, 'a', { extensionState: { memo: long, other: 1 } });
  await runSimpleTurn(journal, coder, 'b', { extensionState: { memo: long, other: 2 } });
  expect(await journal.fork(coder, { as: 'copy' })).toEqual({ seq: 4, messages: 4, unknownStates: [] });
  expect((await journal.read(copy)).extensionState).toEqual({ memo: long, other: 2 });
  expect(await journal.fork(coder, { as: 'early', at: 'turn-a' })).toMatchObject({ seq: 2, unknownStates: ['memo'] });
  const early = { agentName: 'coder', instanceKey: 'early' };
  expect((await journal.read(early)).extensionState).toEqual({ other: 1 });
});

test('rejects an unknown conversation, an unknown moment, and a key in use, even by pending input', async () => {
  const disk = SimulatedDisk.empty();
  await talk(disk);
  const journal = await open(disk, 2);
  expect(await rejectionOf(journal.fork(copy, { as: 'x' }))).toMatchObject({ code: 'E_INSTANCE_UNKNOWN' });
  expect(await rejectionOf(journal.fork(coder, { as: 'copy', at: 7 }))).toMatchObject({ code: 'E_HISTORY_RANGE' });
  expect(await rejectionOf(journal.fork(coder, { as: 'default' }))).toMatchObject({
    code: 'E_INSTANCE_EXISTS',
    message: 'coder has a conversation "default" already.',
  });
  await journal.accept(copy, simpleEvent('first'));
  expect(await rejectionOf(journal.fork(coder, { as: 'copy' }))).toMatchObject({ code: 'E_INSTANCE_EXISTS' });
  expect((await journal.pending(copy)).map(({ id }) => id)).toEqual(['first']);
  expect(await disk.list(instances)).toEqual(['coder~default']);
});

test('input accepted for the new key at the same time rejects the fork or finds it; it is never lost', async () => {
  const seen = new Set<string>();
  for (let seed = 0; seed < 40; seed += 1) {
    const disk = SimulatedDisk.empty();
    await talk(disk);
    const random = seededRandom(seed);
    disk.syncTicks = () => random.below(10);
    const journal = await openOwner(disk, 2);
    const wait = async () => {
      for (let ticks = random.below(300); ticks > 0; ticks -= 1) await Promise.resolve();
    };
    const accepting = wait().then(() => journal.accept(copy, simpleEvent('x')));
    const outcome = await journal.fork(coder, { as: 'copy' }).then(
      () => 'forked',
      (error: unknown) => (error instanceof GoondanError ? error.code : String(error)),
    );
    await accepting;
    const reader = await open(disk, 3);
    expect((await reader.pending(copy)).map(({ id }) => id)).toEqual(['x']);
    expect((await reader.read(copy)).messages).toHaveLength(outcome === 'forked' ? 6 : 0);
    seen.add(outcome);
  }
  expect(seen).toEqual(new Set(['forked', 'E_INSTANCE_EXISTS']));
});

async function look(journal: Journal): Promise<'whole' | 'nothing'> {
  const isThere = await journal.has(copy);
  expect(await journal.instances()).toHaveLength(isThere ? 2 : 1);
  expect(ids((await journal.read(coder)).messages)).toHaveLength(6);
  if (!isThere) return 'nothing';
  const { messages, extensionState } = await journal.read(copy);
  expect(ids(messages)).toEqual(['input-a', 'answer-a', 'input-b', 'answer-b']);
  expect(extensionState).toEqual({ memo: 'b' });
  expect((await readHistory(journal, copy)).last).toBe(4);
  return 'whole';
}

test('a crash at any moment leaves everything or nothing, and a sweep removes the rest', async () => {
  const disk = SimulatedDisk.empty();
  await talk(disk);
  const journal = await open(disk, 2);
  const moments = await momentsOf(disk, () => journal.fork(coder, { as: 'copy', at: 4 }));
  const done = disk.copy();
  const outcomes = new Set<string>();
  for (const [index, moment] of [...moments, done].entries()) {
    for (const mode of ['kill', 'power'] as const) {
      for (let seed = 0; seed < samples(5); seed += 1) {
        const survivor = moment.crash(mode, seededRandom(index, seed));
        const next = await open(survivor, 3);
        const outcome = await look(next);
        if (moment === done) expect(outcome).toBe('whole');
        outcomes.add(outcome);
        await next.sweep();
        expect((await survivor.list(instances))?.filter((name) => name.startsWith('.'))).toEqual([]);
        expect(await look(next)).toBe(outcome);
        if (outcome === 'nothing') await next.fork(coder, { as: 'copy', at: 4 });
        await runSimpleTurn(next, copy, 'x');
        expect((await next.read(copy)).messages).toHaveLength(6);
      }
    }
  }
  expect(outcomes).toEqual(new Set(['whole', 'nothing']));
}, 60_000);

test('a disk error leaves nothing of the fork, and a second attempt works', async () => {
  const whole = SimulatedDisk.empty();
  await talk(whole);
  let fails = 0;
  for (let operation = 1; ; operation += 1) {
    const disk = whole.copy();
    let left = operation;
    const fs = failingFs(disk, (what) => {
      if (what !== 'removeFolder' && --left === 0) throw systemError('ENOSPC');
    });
    const journal = await open(fs, 2).catch(() => undefined);
    if (journal === undefined) continue;
    const outcome = await journal.fork(coder, { as: 'copy', at: 4 }).then(
      () => 'forked',
      (error: unknown) => (error instanceof GoondanError ? error.code : String(error)),
    );
    left = 0;
    if (outcome === 'forked') break;
    fails += 1;
    expect(['E_DISK_FULL', 'E_STORE_READ', 'E_STORE_WRITE']).toContain(outcome);
    const aside = (await disk.list(instances))?.filter((name) => name.startsWith('.'));
    expect(aside).toEqual([]);
    if (!(await journal.has(copy))) await journal.fork(coder, { as: 'copy', at: 4 });
    expect(await look(journal)).toBe('whole');
  }
  expect(fails).toBeGreaterThan(30);
}, 60_000);

test('a damaged inbox does not prevent a fork of its conversation', async () => {
  const disk = SimulatedDisk.empty();
  await talk(disk);
  const owner = await open(disk);
  await owner.accept(coder, simpleEvent('waits'));
  await owner.close();
  const path = '/state/workspaces/simulation/inbox/inbox.000001.jsonl';
  const noise = await bytesOf(disk, path);
  noise.write('noise', noise.indexOf('input of waits'));
  await overwrite(disk, path, noise);
  const journal = await open(disk, 2);
  expect(await rejectionOf(journal.pending(coder))).toMatchObject({ code: 'E_STORE_CORRUPT' });
  expect(await journal.fork(coder, { as: 'copy' })).toMatchObject({
    messages: 6,
    problems: [expect.stringMatching(/^E_STORE_CORRUPT: .* The fork has everything but waiting input\.$/)],
  });
  expect(ids((await journal.read(copy)).messages)).toEqual(ids((await journal.read(coder)).messages));
});

/** Flips a bit near the end of a file of the conversation. */
test.each([5, 30])(
  'a conversation without a checkpoint is forked although byte %d of its first frame is damaged',
  async (at) => {
    const disk = SimulatedDisk.empty();
    const agent = await open(disk);
    for (const id of ['a', 'b']) await runSimpleTurn(agent, coder, id, { extensionState: { memo: id } });
    await damage(disk, 'messages/events.jsonl', () => at);
    const journal = await open(disk, 2);
    const log = `${instances}/coder~default/messages/events.jsonl is damaged`;
    for (const refused of [journal.read(coder), journal.open(coder, 'turn-c')]) {
      const error = await rejectionOf(refused);
      expect(error).toMatchObject({ code: 'E_STORE_CORRUPT', message: expect.stringContaining(log) });
    }
    const forked = await journal.fork(coder, { as: 'copy' });
    expect(forked).toMatchObject({ messages: 4, unknownStates: [], problems: [expect.stringContaining(log)] });
    expect(ids((await journal.read(copy)).messages)).toEqual(['input-a', 'answer-a', 'input-b', 'answer-b']);
    expect((await journal.read(copy)).extensionState).toEqual({ memo: 'b' });
  },
);

async function damage(
  disk: SimulatedDisk,
  path: string,
  place = (length: number) => Math.floor(length * 0.9),
): Promise<void> {
  const full = `${instances}/coder~default/${path}`;
  const bytes = await bytesOf(disk, full);
  const at = place(bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await disk.remove(full);
  const file = await disk.openFile(full);
  await file.append(bytes);
  await file.close();
}

describe('the fork of a damaged conversation', () => {
  const long = 'x'.repeat(70_000);
  // The base of a conversation this short has a file only with this limit.
  const limits = { ...defaultLimits, shortBaseBytes: 0 };
  /** Creates two turns, and a commit of states alone after them. Then damages these files. */
  async function damaged(...paths: string[]): Promise<Journal> {
    const disk = SimulatedDisk.empty();
    const agent = await open(disk, 1, limits);
    for (const id of ['a', 'b']) await runSimpleTurn(agent, coder, id, { extensionState: { long, memo: id } });
    const { stateVersion } = await agent.read(coder);
    await agent.commitStates(coder, stateVersion, { long, memo: 'alone' });
    await agent.close();
    for (const path of paths) await damage(disk, path);
    return open(disk, 2, limits);
  }
  const all = ['input-a', 'answer-a', 'input-b', 'answer-b'];

  test.each([
    ['messages/base.jsonl', { long, memo: 'alone' }, [], /base.* The messages come from the history\.$/],
    [
      'extensions/memo.json',
      { long, memo: 'b' },
      [],
      /memo.* The state of "memo" is the one that the last turn left\.$/,
    ],
    ['extensions/long.json', { memo: 'alone' }, ['long'], /long.* The state of "long" is lost\.$/],
    ['metadata.json', { memo: 'b' }, ['long'], /metadata.* which may lack the last turn\.$/],
    [
      'messages/events.jsonl',
      { long, memo: 'alone' },
      [],
      /events.* come from the last commit, without their history\.$/,
    ],
  ])(
    '%s: has all messages and every state that has an intact copy',
    async (path, extensionState, unknownStates, problem) => {
      const journal = await damaged(path);
      const forked = await journal.fork(coder, { as: 'copy' });
      const seq = path.includes('events') ? {} : { seq: 4 };
      expect(forked).toEqual({ ...seq, messages: 4, unknownStates, problems: [expect.stringMatching(problem)] });
      const made = await journal.read(copy);
      expect([ids(made.messages), made.extensionState]).toEqual([all, extensionState]);
      const { turns } = await readHistory(journal, copy);
      expect(turns[0]?.events.map(({ author }) => author.kind)).toEqual(['input', 'model', 'input', 'model']);
      expect(turns[0]?.fork).toEqual({ instanceKey: 'default', ...seq });
    },
  );

  test('is rejected when base and archive are damaged, with the last reachable event', async () => {
    const journal = await damaged('messages/base.jsonl', 'messages/events.jsonl');
    const refused = await rejectionOf(journal.fork(coder, { as: 'copy' }));
    expect(refused).toMatchObject({
      code: 'E_STORE_CORRUPT',
      suggestion: expect.stringContaining('`gdn fork --at 2`'),
    });
    expect(await journal.has(copy)).toBe(false);
    expect(await journal.fork(coder, { as: 'copy', at: 2 })).toMatchObject({
      messages: 2,
      problems: [expect.stringContaining('events')],
    });
    expect(await rejectionOf(journal.fork(coder, { as: 'other', at: 3 }))).toMatchObject({ code: 'E_STORE_CORRUPT' });
  });
});

test.each([
  ['metadata.json', { seq: 6 }],
  ['messages/events.jsonl', {}],
])('the fork of a short conversation has all messages when %s is damaged', async (path, seq) => {
  const disk = SimulatedDisk.empty();
  await talk(disk);
  await damage(disk, path);
  const journal = await open(disk, 2);
  expect(await journal.fork(coder, { as: 'copy' })).toMatchObject({ ...seq, messages: 6, unknownStates: [] });
  expect((await journal.read(copy)).extensionState).toEqual({ memo: 'c' });
});
