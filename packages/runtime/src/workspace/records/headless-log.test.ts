import { expect, test } from 'bun:test';
import { instancePaths, type StoredInstance } from '../layout/instance-paths.ts';
import { defaultLimits } from '../limits.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { simulatedMachine } from '../simulation/simulated-machine.ts';
import { encodeFrame } from './frame.ts';
import { readOwnMetadata } from './read-metadata.ts';

const address = { agentName: 'coder', instanceKey: 'default' };
const paths = instancePaths('/workspace', address);

/** Makes a log whose first frame is damaged, and whose second one has number 2. */
async function headless(): Promise<StoredInstance> {
  const disk = SimulatedDisk.empty();
  for (const folder of ['/workspace', '/workspace/instances', paths.folder, paths.messages])
    await disk.makeFolder(folder);
  const second = encodeFrame({ seq: 2, durable: 1, at: 5, commit: {} });
  await disk.createNew(paths.events, Buffer.concat([Buffer.from('damaged\n'), second, new Uint8Array(1)]));
  return { ...simulatedMachine(disk, 1), paths, address, limits: defaultLimits };
}

test('a damaged first frame had only the head if the next frame has number 2', async () => {
  expect(await readOwnMetadata(await headless())).toMatchObject({
    metadata: { ...address, checkpoint: { seq: 1, offset: 8 } },
    problem: expect.stringContaining('damaged'),
  });
});
