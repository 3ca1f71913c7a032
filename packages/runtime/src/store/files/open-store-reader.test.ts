import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { createUserMessage } from '@goondan/types';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import { durableStore } from '../../workspace/journal/durable-store.ts';
import { readHistory } from '../../workspace/history/read-history.ts';
import { rejectionOf } from '../../workspace/simulation/rejection-of.ts';
import { openStoreReader } from './open-store-reader.ts';

const stateRoot = temporaryFolder();
const at = { agentName: 'host', instanceKey: 'default' };

test('a swarm that never ran is empty, and reading it creates nothing', async () => {
  const { directory, history, inbox, deadLetters, traces, logs, close } = openStoreReader({
    stateRoot,
    workspaceId: 'never',
  });
  expect(await directory.exists()).toBe(false);
  expect([await directory.instances(), await directory.has(at), await directory.swarm()]).toEqual([
    [],
    false,
    undefined,
  ]);
  expect(await directory.summary(at)).toEqual({ messages: 0, pending: 0, deadLetters: 0 });
  expect((await history.read(at)).messages).toEqual([]);
  expect([await inbox.pendingEntries(at), await deadLetters.list(at)]).toEqual([[], []]);
  expect([await traces.list(), await logs.read({ last: 1 })]).toEqual([[], []]);
  expect(await rejectionOf(traces.read())).toMatchObject({ code: 'E_TRACE_UNKNOWN' });
  await close();
  expect(readdirSync(stateRoot)).toEqual([]);
});

test('a conversation is read while its process has the lock, and after it has ended', async () => {
  const place = { stateRoot, workspaceId: 'shop' };
  const journal = await durableStore(place);
  await journal.accept(at, fakeEvent('one', { id: 'one' }));
  await journal.accept(at, fakeEvent('two', { id: 'two' }));
  const { epoch } = await journal.open(at, 'turn-one', { seq: 1, event: fakeEvent('one', { id: 'one' }) });
  const message = createUserMessage('one');
  const input = { type: 'message', event: { type: 'append', message }, author: { kind: 'input' } } as const;
  await journal.append(at, epoch, 0, [input]);
  const delta = { type: 'append', messages: [message] } as const;
  await journal.commit(at, epoch, 'turn-one', delta, {}, { turnId: 'turn-one', finishReason: 'text_response' });
  const running = await view();
  expect(running).toMatchObject({ instances: [at], messages: [message], events: 1, pending: ['two'], isNew: false });
  await journal.close();
  expect(await view()).toEqual(running);

  async function view() {
    const { directory, history, inbox, close } = openStoreReader(place);
    const seen = {
      instances: await directory.instances(),
      isNew: directory.isNew(at),
      messages: (await history.read(at)).messages,
      events: (await readHistory(history, at)).last,
      pending: (await inbox.pendingEntries(at)).map(({ event }) => event.id),
    };
    await close();
    return seen;
  }
});
