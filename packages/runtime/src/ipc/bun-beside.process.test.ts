import { expect, test } from 'bun:test';
import { startBunBeside } from './bun-beside.ts';

test('a call fails when the Bun process has ended, before the call or during it', async () => {
  const beside = await startBunBeside();
  // The call may fail while the process ends, so its error is caught from the start.
  const during = beside.call('startSwarm', { bundleFolder: '/nowhere' }).catch((error: unknown) => error);
  await beside.end();
  expect(await during).toMatchObject({ code: expect.stringMatching(/^E_/) });
  const after = beside.call('scanModule', { file: '/nowhere.ts', root: '/' });
  expect(await after.catch((error: unknown) => error)).toMatchObject({ code: 'E_PROCESS_START' });
});
