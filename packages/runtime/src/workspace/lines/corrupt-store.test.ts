import { expect, test } from 'bun:test';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { simulatedMachine } from '../simulation/simulated-machine.ts';
import { corruptStore } from './corrupt-store.ts';

test('a damaged file that changes with each report is copied eight times at most', async () => {
  const disk = SimulatedDisk.empty();
  await disk.makeFolder('/state');
  const ports = simulatedMachine(disk, 1);
  const report = async (text: string) => {
    await disk.remove('/state/log');
    await disk.createNew('/state/log', Buffer.from(text));
    return (await corruptStore(ports, '/state/log', 'line 1')).message;
  };
  for (let index = 0; index < 8; index++)
    expect(await report(`${index}`)).toContain('(a copy is in /state/log.corrupt-');
  expect(await report('0')).toContain('(a copy is in /state/log.corrupt-');
  expect(await report('new')).toBe('/state/log is damaged: line 1 (8 earlier copies are in /state)');
  expect((await disk.list('/state'))?.filter((name) => name.includes('.corrupt-'))).toHaveLength(8);
});
