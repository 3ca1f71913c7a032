import { expect, test } from 'bun:test';
import { startBunBeside } from './bun-beside.ts';

test('a call fails when the Bun process has ended, before the call or during it', async () => {
  const beside = await startBunBeside();
  const during = beside.call('startSwarm', { bundleFolder: '/nowhere' });
  await beside.end();
  expect(await during.catch((error: unknown) => error)).toMatchObject({ code: expect.stringMatching(/^E_/) });
  const after = beside.call('scanModule', { file: '/nowhere.ts', root: '/' });
  expect(await after.catch((error: unknown) => error)).toMatchObject({ code: 'E_PROCESS_START' });
});
