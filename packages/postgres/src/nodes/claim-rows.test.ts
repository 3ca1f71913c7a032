import { expect, test } from '../testing/with-postgres.ts';
import { openSwarmPerTest } from '../testing/test-swarm.ts';
import { claimInstance, releaseInstance } from './claim-rows.ts';

const rows = await openSwarmPerTest();

test('S-02 a release of an earlier claim does not end a later claim of the same node', async () => {
  const { id } = await rows.join('one');
  const address = { agentName: 'coder', instanceKey: 'default' };
  const claim = async () => (await claimInstance(rows, id, address)).epoch ?? 0;
  const owner = async () => {
    const [row] = await rows.database.query<{ readonly owner: string | null }>(
      'select owner from gdn_instance where swarm = $1',
      [rows.swarm],
    );
    return row?.owner;
  };
  const [first, second] = [await claim(), await claim()];
  await releaseInstance(rows, id, address, first);
  expect(await owner()).toBe(id);
  await releaseInstance(rows, id, address, second);
  expect(await owner()).toBeNull();
});
