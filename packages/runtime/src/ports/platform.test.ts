import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { startOrchestrator } from '../orchestrator/start-orchestrator.ts';
import { checkPlatform } from './platform.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';

const stateRoot = temporaryFolder();

test.each(['linux', 'darwin'])('%s is supported', (platform) => {
  expect(() => checkPlatform(platform)).not.toThrow();
});

test.each(['win32', 'freebsd', 'android'])('E_PLATFORM on %s', (platform) => {
  expect(() => checkPlatform(platform)).toThrow(expect.objectContaining({ code: 'E_PLATFORM' }));
});

test('E_PLATFORM: a swarm is rejected before it writes anything', async () => {
  const plan = { name: 'shop', agents: [] };
  const start = startOrchestrator({ plan, stateRoot, workspaceId: 'shop', platform: 'win32' });
  expect(await start.catch((error: unknown) => error)).toMatchObject({ code: 'E_PLATFORM' });
  expect(readdirSync(stateRoot)).toEqual([]);
});
