import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { type Fs, systemFs } from '../../ports/fs.ts';
import { systemProcesses, type Processes } from '../../ports/processes.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { simpleEvent, simpleRecords } from '../simulation/simulated-turn.ts';
import { durableStore } from './durable-store.ts';

const coder = { agentName: 'coder', instanceKey: 'default' };
const stateRoot = temporaryFolder();

/** Opens a journal in a workspace of its own. */
async function open(workspaceId: string, processes: Processes = systemProcesses) {
  const folder = join(stateRoot, 'workspaces', workspaceId, 'instances/coder~default');
  return { journal: await durableStore({ stateRoot, workspaceId, processes, warn: () => undefined }), folder };
}

test('a second writer is rejected while the first one lives, and fences it off when it is gone', async () => {
  const { journal: first, folder } = await open('fence');
  const { epoch } = await first.open(coder, 'turn-a');
  await first.append(coder, epoch, 0, simpleRecords('a').slice(0, 1));
  const { journal: refused } = await open('fence');
  expect(await rejectionOf(refused.open(coder, 'turn-a'))).toMatchObject({
    code: 'E_LOCKED',
    message: expect.stringContaining(`process ${process.pid}`),
  });

  const self = { pid: 1, startedAt: 'another' };
  const { journal: second } = await open('fence', { self: () => self, isAlive: ({ pid }) => pid === 1 });
  const taken = await second.open(coder, 'turn-a');
  expect(taken.epoch).toBeGreaterThan(epoch);
  expect(taken.log.length).toBe(1);

  const files = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), 'utf8')]);
  const before = files();
  const result = { turnId: 'turn-a', finishReason: 'text_response' } as const;
  expect(await rejectionOf(first.append(coder, epoch, 1, [{ type: 'resumed' }]))).toMatchObject({ code: 'E_FENCED' });
  const late = first.commit(coder, epoch, 'turn-a', { type: 'append', messages: [] }, {}, result);
  expect(await rejectionOf(late)).toMatchObject({ code: 'E_FENCED' });
  expect(files()).toEqual(before);
  await first.close();
  expect(files()).toEqual(before);
  await second.append(coder, taken.epoch, 1, [{ type: 'resumed' }]);
});

test('a turn opened again in the same process fences off the earlier opening', async () => {
  const { journal } = await open('again');
  const first = await journal.open(coder, 'turn-a');
  const second = await journal.open(coder, 'turn-a');
  expect(await rejectionOf(journal.append(coder, first.epoch, 0, [{ type: 'resumed' }]))).toMatchObject({
    code: 'E_FENCED',
  });
  await journal.append(coder, second.epoch, 0, [{ type: 'resumed' }]);
});

test('records, turns and commits out of order are rejected with E_STORE_ORDER', async () => {
  const { journal } = await open('order');
  const outOfOrder = { code: 'E_STORE_ORDER' } as const;
  expect(await rejectionOf(journal.append(coder, 1, 0, []))).toMatchObject(outOfOrder);
  await journal.accept(coder, simpleEvent('a'));
  await journal.accept(coder, simpleEvent('b'));
  const { epoch } = await journal.open(coder, 'turn-a', { seq: 1, event: simpleEvent('a') });
  expect(await rejectionOf(journal.append(coder, epoch, 1, [{ type: 'resumed' }]))).toMatchObject(outOfOrder);
  await journal.append(coder, epoch, 0, [{ type: 'resumed' }]);
  expect(await rejectionOf(journal.append(coder, epoch, 0, [{ type: 'resumed' }]))).toMatchObject(outOfOrder);
  expect(await rejectionOf(journal.open(coder, 'turn-x'))).toMatchObject(outOfOrder);
  const next = { seq: 2, event: simpleEvent('b') };
  expect(await rejectionOf(journal.open(coder, 'turn-b', next))).toMatchObject(outOfOrder);
  const result = { turnId: 'turn-b', finishReason: 'text_response' } as const;
  const other = journal.commit(coder, epoch, 'turn-b', { type: 'append', messages: [] }, {}, result);
  expect(await rejectionOf(other)).toMatchObject(outOfOrder);
});

test('a turn that is opened while its instance is being closed gets a writer that is open', async () => {
  const { journal } = await open('closing');
  const { epoch } = await journal.open(coder, 'turn-a');
  await journal.append(coder, epoch, 0, [{ type: 'resumed' }]);
  const closing = journal.close(coder);
  const again = await journal.open(coder, 'turn-a');
  await closing;
  await journal.append(coder, again.epoch, 1, [{ type: 'resumed' }]);
  await journal.close();
});

test('a turn that is opened writes nothing when its lock was taken over after the look at it', async () => {
  let looksLeft = Infinity;
  const fs: Fs = {
    ...systemFs,
    async openLock(path) {
      const held = await systemFs.openLock(path);
      return { ...held, isReplaced: () => looksLeft-- <= 0 || held.isReplaced() };
    },
  };
  const journal = await durableStore({ stateRoot, workspaceId: 'looks', fs, warn: () => undefined });
  const log = () =>
    readFileSync(join(stateRoot, 'workspaces/looks/instances/coder~default/messages/events.jsonl'), 'utf8');
  const commit = async (turnId: string) => {
    const { epoch } = await journal.open(coder, turnId, { seq: 1, event: simpleEvent('a') });
    const result = { turnId, finishReason: 'text_response' } as const;
    await journal.commit(coder, epoch, turnId, { type: 'append', messages: [] }, {}, result);
  };
  await commit('turn-a');
  const interrupted = await journal.open(coder, 'turn-x');
  await journal.append(coder, interrupted.epoch, 0, simpleRecords('x').slice(0, 1));
  const before = log();
  for (const [turnId, input] of [['turn-a', { seq: 2, event: simpleEvent('a') }], ['turn-y']] as const) {
    looksLeft = 1;
    expect(await rejectionOf(journal.open(coder, turnId, input))).toMatchObject({ code: 'E_FENCED' });
    expect(log()).toBe(before);
  }
  looksLeft = Infinity;
  await journal.close();
});
