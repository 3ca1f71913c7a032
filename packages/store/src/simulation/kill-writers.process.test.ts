import { expect, test } from 'bun:test';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { killWriters } from './kill-writers.ts';

const folder = temporaryFolder();

test('everything that a killed writer confirmed is there', async () => {
  const { confirmed, problems } = await killWriters(folder, 3);
  expect({ isWritten: confirmed > 0, problems }).toEqual({ isWritten: true, problems: [] });
});
