import { expect, test } from 'bun:test';
import { manualClock } from '../../testing/index.ts';
import { watchOwnership } from './watch-ownership.ts';

function watched() {
  const clock = manualClock();
  const owner = { isLost: () => world.isGone };
  const world = { isGone: false, told: [] as string[] };
  const ownership = watchOwnership(owner, '/root/workspaces/w', clock);
  ownership.onLost(({ code, message }) => world.told.push(`${code} ${message}`));
  return { clock, world, ownership };
}

const words =
  'E_FENCED /root/workspaces/w/workspace.lock was removed or replaced, alone or with its folder, while this swarm ran.';

test('an idle swarm notices within a minute that its workspace is gone, and reports it once', async () => {
  const { clock, world } = watched();
  await clock.advance(600_000);
  expect(world.told).toEqual([]);
  world.isGone = true;
  await clock.advance(60_000);
  expect(world.told).toEqual([words]);
  await clock.advance(600_000);
  expect(world.told).toEqual([words]);
});

test('a write after the loss of the workspace is rejected and reports at once, even if the folder comes back', () => {
  const { world, ownership } = watched();
  ownership.fence();
  world.isGone = true;
  expect(() => ownership.fence()).toThrow('/root/workspaces/w/workspace.lock was removed or replaced');
  expect(world.told).toEqual([words]);
  world.isGone = false;
  expect(() => ownership.fence()).toThrow('/root/workspaces/w/workspace.lock was removed or replaced');
  expect(ownership.isLost).toBe(true);
  expect(world.told).toEqual([words]);
});

test('a workspace is not checked any more after the end of its swarm', async () => {
  const { clock, world, ownership } = watched();
  ownership.end();
  world.isGone = true;
  await clock.advance(600_000);
  expect(world.told).toEqual([]);
});
