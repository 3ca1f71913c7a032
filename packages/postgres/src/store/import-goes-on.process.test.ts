import { expect, test } from '../testing/with-postgres.ts';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { durableStore } from '@goondan/runtime/history';
import { type AgentAddress, type AgentEvent, createUserMessage } from '@goondan/types';
import { fakeEvent } from '../../../runtime/src/testing/fake-swarm.ts';
import { unpackConnection } from '../../../runtime/src/workspace/packs/pack-connection.ts';
import { postgresSource } from '../cluster-source.ts';
import { openTestDatabase } from '../testing/test-database.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { importFiles } from './import-files.ts';
import { until } from '../../../../test/until.ts';

const { address, database } = await openTestDatabase();
const stateRoot = temporaryFolder();

const caller: AgentAddress = { agentName: 'lead', instanceKey: 'k' };
const callee: AgentAddress = { agentName: 'coder', instanceKey: 'k' };
const eventOf = (id: string, more: Partial<AgentEvent> = {}) => fakeEvent(id, { id, instanceKey: 'k', ...more });
const request = eventOf('call-1', {
  source: { kind: 'agent', name: 'lead' },
  replyTo: { target: 'lead', correlationId: 'call-1' },
  callChain: [caller],
});
const joinSwarm = (swarm: string) =>
  postgresSource({ address, swarm, leaseMs: 60_000, scanMs: 20 }).join({
    name: 'one',
    start: 'one',
    version: '0.1.0',
  });

test('S-01 a caller that goes on after the import gets its answer, and its commit removes the answer', async () => {
  const place = { stateRoot, workspaceId: 'answers' };
  const journal = await durableStore(place);
  const asked = await journal.accept(caller, eventOf('e1'));
  const open = await journal.open(caller, 'turn-e1', { seq: asked.seq ?? 0, event: eventOf('e1') });
  const input = createUserMessage('e1', {}, { id: 'm', createdAt: new Date(1) });
  await journal.append(caller, open.epoch, 0, [
    { type: 'message', event: { type: 'append', message: input }, author: { kind: 'input' } },
  ]);
  const called = await journal.accept(callee, request);
  const { epoch } = await journal.open(callee, 'turn-call-1', { seq: called.seq ?? 0, event: request });
  const result = { turnId: 'turn-call-1', finishReason: 'text_response' } as const;
  await journal.commit(callee, epoch, 'turn-call-1', { type: 'append', messages: [] }, {}, result);
  await journal.close();

  expect(await importFiles(place, database, 'answers')).toMatchObject({ imported: 2, problems: [] });
  const store = await joinSwarm('answers');
  const told: string[] = [];
  store.calls.onAnswered((_callee, eventId, { turnId }) => void told.push(`${eventId} ${turnId}`));
  // The turn of the caller runs again, and makes the same request.
  expect(await store.inbox.accept(callee, request)).toEqual({ accepted: true, duplicate: true });
  store.calls.watch(callee, 'call-1');
  await until(() => told.length > 0);
  expect(told[0]).toBe('call-1 turn-call-1');
  store.calls.forget('call-1');
  expect(await store.answers.left(callee)).toMatchObject([{ eventId: 'call-1' }]);
  await store.placement.claim(caller);
  const { epoch: own, frames } = await store.log.load(caller);
  expect(frames.length).toBeGreaterThan(0);
  const [row] = await database.query<{ readonly last_seq: number }>(
    `select last_seq from gdn_instance where swarm = 'answers' and agent = 'lead'`,
  );
  const seq = (row?.last_seq ?? 0) + 1;
  const commit = { version: 1, messages: 1, deadLetters: 0, updatedAt: 1, handled: 1 };
  await store.log.append(caller, own, { seq, last: seq, line: '{}', isDurable: true, commit });
  expect(await store.answers.left(callee)).toEqual([]);
  await store.close();
});

test('S-07 a connection goes on with the files of its folder; other files in the database stay', async () => {
  const place = { stateRoot, workspaceId: 'connections' };
  const folderOf = (name: string) => `${stateRoot}/workspaces/connections/connections/${name}`;
  await (await durableStore(place)).close();
  for (const name of ['schedule', 'empty', 'linked']) mkdirSync(folderOf(name), { recursive: true });
  writeFileSync(`${folderOf('schedule')}/place.json`, '{"last":7}');
  symlinkSync('/etc/hostname', `${folderOf('linked')}/out`);

  const { problems } = await importFiles(place, database, 'connections');
  expect(problems.map(({ code, message }) => `${code} ${message.slice(0, 20)}`)).toEqual([
    'E_PATH_OUTSIDE Connection "linked":',
  ]);
  rmSync(folderOf('linked'), { recursive: true });
  expect((await importFiles(place, database, 'connections')).problems).toEqual([]);

  const store = await joinSwarm('connections');
  const lease = await store.connections.claim('schedule');
  const target = join(stateRoot, 'unpacked');
  unpackConnection((await lease?.readFolder()) ?? new Uint8Array(), target);
  expect(readFileSync(`${target}/place.json`, 'utf8')).toBe('{"last":7}');
  expect(await (await store.connections.claim('empty'))?.readFolder()).toBeUndefined();
  await lease?.writeFolder(new Uint8Array([1, 2]));
  const again = await importFiles(place, database, 'connections');
  expect(again.problems.map(({ code }) => code)).toEqual(['E_INSTANCE_EXISTS']);
  expect([...((await lease?.readFolder()) ?? [])]).toEqual([1, 2]);
  await store.close();
});
