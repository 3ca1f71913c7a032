/** Tests the import of conversations whose turns took inputs while they ran. */
import { expect, test } from '../testing/with-postgres.ts';
import { durableStore } from '@goondan/runtime/history';
import { loggedConversations } from '@goondan/runtime/internal';
import type { AgentAddress } from '@goondan/types';
import { fakeEvent } from '../../../runtime/src/testing/fake-swarm.ts';
import { messagesOf, simpleRecords } from '../../../runtime/src/workspace/simulation/simulated-turn.ts';
import { runSteeredTurn, tookRecord } from '../../../runtime/src/workspace/simulation/steered-turn.ts';
import { claimInstance } from '../testing/claim-instance.ts';
import { openTestDatabase } from '../testing/test-database.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { postgresAnswers } from './answers.ts';
import { PostgresLog } from './conversation-log.ts';
import { importFiles } from './import-files.ts';
import { PostgresInbox } from './inbox.ts';

const { database } = await openTestDatabase();
const stateRoot = temporaryFolder();

const at: AgentAddress = { agentName: 'coder', instanceKey: 'k' };
const eventOf = (id: string, now = false) => fakeEvent(id, { id, instanceKey: 'k', ...(now && { delivery: 'now' }) });

test('Y-08 S-01 taken inputs are handled after an import, and those of an interrupted turn are taken once', async () => {
  const place = { stateRoot, workspaceId: 'steered' };
  const journal = await durableStore(place);
  for (const id of ['e1', 'e2']) await journal.accept(at, eventOf(id));
  for (const id of ['n3', 'n4']) await journal.accept(at, eventOf(id, true));
  // The turn of e1 overtakes e2 with n3. The turn of e2 is interrupted after it took n4.
  await runSteeredTurn(journal, at, 'e1', ['n3']);
  const opened = await journal.open(at, 'turn-e2', { seq: 2, event: eventOf('e2') });
  const records = [...simpleRecords('e2'), tookRecord({ seq: 4, event: eventOf('n4', true) }, 1)];
  await journal.append(at, opened.epoch, 0, records);
  await journal.close();

  expect(await importFiles(place, database, 'steered')).toMatchObject({ imported: 1, problems: [] });
  // Nothing has changed, so the import can be repeated.
  expect(await importFiles(place, database, 'steered')).toMatchObject({ imported: 0, problems: [] });
  const context = { database, swarm: 'steered', node: 'one', mayRepeat: () => false };
  const inbox = new PostgresInbox(context);
  const pending = async () => (await inbox.pendingEntries(at)).map(({ seq, event }) => [seq, event.id]);
  expect(await pending()).toEqual([
    [2, 'e2'],
    [4, 'n4'],
  ]);
  for (const id of ['e1', 'e2', 'n3', 'n4'])
    expect(await inbox.accept(at, eventOf(id))).toMatchObject({ accepted: true, duplicate: true });
  expect(await inbox.accept(at, eventOf('e5'))).toMatchObject({ duplicate: false, seq: 5 });

  await claimInstance(database, 'steered', at, 'one');
  const { conversations } = loggedConversations(new PostgresLog(context), postgresAnswers(context));
  // A second delivery of an input gets the end of the turn that took it.
  expect((await conversations.open(at, 'turn-n3')).finished).toMatchObject({ turnId: 'turn-e1' });
  const again = await conversations.open(at, 'turn-e2', { seq: 2, event: eventOf('e2') });
  expect(
    again.log.flatMap((record) => (record.type === 'message' && record.took ? [record.took.event.id] : [])),
  ).toEqual(['n4']);
  expect(again.isHandled({ seq: 3, event: eventOf('n3') })).toBe(true);
  const result = { turnId: 'turn-e2', finishReason: 'text_response' } as const;
  const delta = { type: 'append', messages: messagesOf(records) } as const;
  await conversations.commit(at, again.epoch, 'turn-e2', delta, again.extensionState, result);
  expect(await pending()).toEqual([[5, 'e5']]);
  expect(
    (await conversations.read(at)).messages.filter(({ id }) => id.startsWith('input-n')).map(({ id }) => id),
  ).toEqual(['input-n3', 'input-n4']);
});
