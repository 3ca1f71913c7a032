import { expect, test } from 'bun:test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { questionsPath, swarmLogPath, workspaceFolder } from '../../workspace/layout/instance-paths.ts';
import type { StoreWarning } from '../../workspace/store-ports.ts';
import { openStoredQuestions } from './stored-file-questions.ts';

const stateRoot = temporaryFolder();

test('a command that finds a damaged file of questions reports it, also to the log of the swarm', async () => {
  const place = { stateRoot, workspaceId: 'test' };
  const folder = workspaceFolder(stateRoot, place.workspaceId);
  mkdirSync(folder, { recursive: true });
  writeFileSync(questionsPath(folder), 'damaged\n{}\n');
  const warned: StoreWarning[] = [];
  const stored = await openStoredQuestions({
    ...place,
    warn: (warning) => void warned.push(warning),
    fence: () => undefined,
  });
  expect(await stored.questions()).toEqual([]);
  await stored.close();
  expect(warned).toEqual([
    { path: questionsPath(folder), message: expect.stringContaining('what waits is asked again') },
  ]);
  expect(readFileSync(swarmLogPath(folder), 'utf8')).toContain('what waits is asked again');
});
