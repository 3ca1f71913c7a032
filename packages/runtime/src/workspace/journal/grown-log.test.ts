import { expect, test } from 'bun:test';
import { readdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import type { StoreLimits } from '../limits.ts';
import { decodeMetadata } from '../records/metadata.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { runSimpleTurn } from '../simulation/simulated-turn.ts';
import { durableStore } from './durable-store.ts';
import type { Journal } from './journal.ts';

const coder = { agentName: 'coder', instanceKey: 'default' };
const stateRoot = temporaryFolder();

async function open(workspaceId: string, limits: Partial<StoreLimits> = {}) {
  const folder = join(stateRoot, 'workspaces', workspaceId, 'instances/coder~default');
  return { folder, journal: await durableStore({ stateRoot, workspaceId, limits, warn: () => undefined }) };
}

/** Commits states alone, each of 60 000 bytes. */
async function commitStates(journal: Journal, count: number): Promise<void> {
  let { stateVersion } = await journal.read(coder);
  for (let index = 0; index < count; index += 1) {
    stateVersion = await journal.commitStates(coder, stateVersion, { notes: `${'n'.repeat(60_000)}${index}` });
  }
}

test('an instance opens after a file of the log that has no turn, however long', async () => {
  const limits = { archive: { bytes: 2_000_000, files: 64 } };
  const { journal } = await open('no-turn', limits);
  await runSimpleTurn(journal, coder, 'a', { text: 'x'.repeat(2_000_000) });
  await commitStates(journal, 25);
  await journal.close();
  const { journal: again } = await open('no-turn', limits);
  expect((await again.open(coder, 'turn-a')).finished).toMatchObject({ finishReason: 'text_response' });
  await again.close();
});

test('commits without a turn also lead to checkpoints and new files of the log', async () => {
  const { journal, folder } = await open('alone', { checkpointBytes: 100_000, archive: { bytes: 300_000, files: 64 } });
  await commitStates(journal, 8);
  await journal.archive(coder)[Symbol.asyncIterator]().next();
  expect(readdirSync(join(folder, 'messages'))).toContain('events.000001.jsonl');
  expect(decodeMetadata(readFileSync(join(folder, 'metadata.json')))?.checkpoint).toMatchObject({
    segment: 2,
    messages: 0,
  });
  await journal.close();
});

test('a log that was cut before a checkpoint is damage, if its owner wrote turns after the checkpoint', async () => {
  const { journal, folder } = await open('cut', { checkpointBytes: 2_000 });
  for (const id of ['a', 'b', 'c', 'd']) await runSimpleTurn(journal, coder, id);
  truncateSync(join(folder, 'messages/events.jsonl'), 200);
  const { journal: reader } = await open('cut');
  expect(await rejectionOf(reader.read(coder))).toMatchObject({ code: 'E_STORE_CORRUPT' });
  expect(await rejectionOf(reader.summary(coder))).toMatchObject({ code: 'E_STORE_CORRUPT' });
});
