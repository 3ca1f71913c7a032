import { expect, test } from 'bun:test';
import { defaultLimits } from '../limits.ts';
import { DiskPace } from '../log-file/disk-pace.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { simulatedMachine } from '../simulation/simulated-machine.ts';
import { simpleEvent } from '../simulation/simulated-turn.ts';
import { InboxLog } from './inbox-log.ts';
import { InboxContents, keyOf, readInboxLog } from './read-inbox-log.ts';

const to = { agentName: 'coder', instanceKey: 'k' };
const noPlan = () => Promise.reject(new Error('no segment is full'));

async function openLog() {
  const disk = SimulatedDisk.empty();
  const { fs, clock, warn } = simulatedMachine(disk, 1);
  await fs.makeFolder('/inbox');
  const place = { fs, warn, folder: '/inbox', limits: defaultLimits, pace: new DiskPace(clock) };
  return { disk, log: await InboxLog.open(place, new InboxContents(), noPlan) };
}

test('a log that is being closed refuses lines, and has all lines and notes from before', async () => {
  const { disk, log } = await openLog();
  disk.syncTicks = () => 20;
  const earlier = log.write({ to, seq: 1, payload: { event: simpleEvent('a') } });
  // So many notes need more room, and therefore a sync.
  for (let index = 0; index < 800; index += 1)
    log.note({ agentName: 'coder', instanceKey: `conversation-${index}` }, 1);
  const closing = log.close();
  for (let tick = 0; tick < 200; tick += 1) {
    const late = log.write({ to, seq: 2, payload: { event: simpleEvent('b') } });
    expect(await rejectionOf(late)).toMatchObject({ code: 'E_STORE_WRITE' });
  }
  await earlier;
  await Promise.all([closing, log.close()]);
  const { inboxes, damage } = await readInboxLog(disk, '/inbox', true);
  expect(damage).toEqual([]);
  expect([...(inboxes.get(keyOf(to))?.lines.keys() ?? [])]).toEqual([1]);
  expect(inboxes.get(keyOf({ agentName: 'coder', instanceKey: 'conversation-799' }))?.handled).toBe(1);
});
