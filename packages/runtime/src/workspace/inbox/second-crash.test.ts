/** A loss of power after a kill does not separate input from its instance. */
import { expect, test } from 'bun:test';
import { seededRandom } from '../simulation/seeded-random.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import {
  bytesOf,
  coder,
  handleInput,
  momentsOf,
  openOwner,
  openSimulated as open,
} from '../simulation/simulated-journal.ts';
import { simpleEvent } from '../simulation/simulated-turn.ts';

test('a deletion that a kill interrupted is ended only for a rename that survives a loss of power', async () => {
  const disk = SimulatedDisk.empty();
  const first = await open(disk, 1);
  await handleInput(first, coder, 'done');
  await first.accept(coder, simpleEvent('pending'));
  await first.close();
  const owner = await openOwner(disk, 2);
  const moments = await momentsOf(disk, () => owner.delete(coder, { force: true }));
  const outcomes = new Set<boolean>();
  for (const [index, moment] of moments.entries()) {
    const killed = moment.crash('kill', seededRandom(index));
    const second = await open(killed, 3);
    for (const [place, later] of (await momentsOf(killed, () => second.openInbox())).entries()) {
      const next = await openOwner(later.crash('power', seededRandom(index, place)), 4);
      await next.sweep();
      const isThere = (await next.read(coder)).messages.length > 0;
      expect((await next.pending(coder)).map(({ id }) => id)).toEqual(isThere ? ['pending'] : []);
      outcomes.add(isThere);
    }
  }
  expect(outcomes).toEqual(new Set([true, false]));
});

test('a segment whose closing line was killed before its sync survives a loss of power after the next start', async () => {
  const short = { inboxCompactionBytes: 900 };
  const disk = SimulatedDisk.empty();
  const owner = await open(disk, 1, short);
  const log = '/state/workspaces/simulation/inbox';
  const closed = async () => (await bytesOf(disk, `${log}/inbox.000001.jsonl`)).includes('"closes":true');
  const written: SimulatedDisk[] = [];
  // At the begin of a sync, all bytes are written and none is durable.
  disk.syncTicks = () => {
    written.push(disk.copy());
    return 0;
  };
  const accepted: string[] = [];
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) {
    written.splice(0);
    await owner.accept(coder, simpleEvent(id));
    if (await closed()) break;
    accepted.push(id);
  }
  // The first write of the last call was the closing line.
  const [killed = disk] = written;
  expect(await killed.list(log)).not.toContain('inbox.000002.jsonl');
  await (await open(killed, 2, short)).openInbox();
  expect(await killed.list(log)).toContain('inbox.000002.jsonl');
  for (let seed = 0; seed < 40; seed += 1) {
    const next = await openOwner(killed.crash('power', seededRandom(seed)), 3, short);
    expect((await next.pending(coder)).map(({ id }) => id)).toEqual(accepted);
  }
});
