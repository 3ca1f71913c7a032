import { expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { durableStore } from '@goondan/runtime/history';
import { rejectionOf } from '../../../runtime/src/workspace/simulation/rejection-of.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { readDeadLetters } from './read-dead-letters.ts';

const stateRoot = temporaryFolder();
const place = { stateRoot, workspaceId: 'w' };

test('dead letters that cannot be read do not hide the dead letters of other conversations', async () => {
  const journal = await durableStore(place);
  const event = { id: 'e', type: 't', instanceKey: 'k', source: { kind: 'cli', name: 'gdn' }, traceId: 't' } as const;
  for (const instanceKey of ['damaged', 'whole']) {
    await journal.accept({ agentName: 'host', instanceKey }, { ...event, instanceKey, createdAt: new Date() });
  }
  await journal.close();
  const folder = join(stateRoot, 'workspaces/w/instances/host~damaged');
  mkdirSync(folder);
  writeFileSync(join(folder, 'metadata.json'), 'not an instance\n{}\n');
  const warnings: string[] = [];
  const read = (choice: object) => readDeadLetters(place, choice, (problem) => void warnings.push(problem));
  expect(await read({})).toEqual([]);
  expect(warnings).toEqual([
    expect.stringMatching(/^The dead letters of host \(damaged\) cannot be read: E_STORE_CORRUPT: /),
  ]);
  expect(await rejectionOf(read({ instanceKey: 'damaged' }))).toMatchObject({ code: 'E_STORE_CORRUPT' });
});
