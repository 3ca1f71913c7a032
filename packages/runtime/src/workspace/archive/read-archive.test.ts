import { expect, test } from 'bun:test';
import { openJournal } from '../journal/journal.ts';
import type { Fs } from '../../ports/fs.ts';
import { defaultLimits, type StoreLimits } from '../limits.ts';
import { failingFs } from '../simulation/failing-fs.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { simulatedLocation, simulatedMachine } from '../simulation/simulated-machine.ts';
import { runSimpleTurn } from '../simulation/simulated-turn.ts';
import { type ArchivedTurn, readArchive } from './read-archive.ts';
import { instancePaths, workspaceFolder } from '../layout/instance-paths.ts';
import { readOwnMetadata } from '../records/read-metadata.ts';
import { readFinished } from '../records/read-finished.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';

const coder = { agentName: 'coder', instanceKey: 'default' };
const messages = '/state/workspaces/simulation/instances/coder~default/messages';

async function run(turns: number, limits: Partial<StoreLimits>) {
  const disk = SimulatedDisk.empty();
  const journal = await openJournal(simulatedMachine(disk, 1), simulatedLocation, { ...defaultLimits, ...limits });
  for (let index = 0; index < turns; index += 1) await runSimpleTurn(journal, coder, `e${index}`);
  return { disk, journal };
}

async function collect(archive: AsyncIterable<ArchivedTurn>): Promise<ArchivedTurn[]> {
  const turns: ArchivedTurn[] = [];
  for await (const turn of archive) turns.push(turn);
  return turns;
}

const archives = async (disk: SimulatedDisk) =>
  (await disk.list(messages))?.filter((name) => name.startsWith('events')).toSorted();

test('has every committed turn with its events, their authors and times, and its result', async () => {
  const { journal } = await run(2, {});
  const [first, second] = await collect(journal.archive(coder));
  expect([first?.turnId, second?.turnId]).toEqual(['turn-e0', 'turn-e1']);
  expect([first?.version, second?.version]).toEqual([1, 2]);
  expect(second?.result).toMatchObject({
    finishReason: 'text_response',
    responseMessage: { id: 'answer-e1', createdAt: expect.any(Date) },
  });
  const [input, answer] = second?.events ?? [];
  expect(input).toMatchObject({
    author: { kind: 'input' },
    counts: true,
    at: expect.any(Date),
    event: { type: 'append' },
  });
  expect(answer).toMatchObject({ author: { kind: 'model' }, stepId: 'step-e1' });
});

test('a full archive is rotated, read across its files, and still known after a restart', async () => {
  const { disk, journal } = await run(12, { archive: { bytes: 2000, files: 100 } });
  expect((await archives(disk))?.length).toBeGreaterThan(3);
  const ids = (await collect(journal.archive(coder))).map(({ turnId }) => turnId);
  expect(ids).toEqual(Array.from({ length: 12 }, (_, index) => `turn-e${index}`));
  const again = await openJournal(simulatedMachine(disk, 2), simulatedLocation);
  for (const id of ['turn-e0', 'turn-e5', 'turn-e11']) expect((await again.open(coder, id)).finished?.turnId).toBe(id);
});

test('reads the results of a limited number of turns before a checkpoint, also across segments', async () => {
  const { disk, journal } = await run(12, { archive: { bytes: 2000, files: 100 } });
  await journal.close();
  let reads = 0;
  const fs = failingFs(disk, (operation) => (reads += operation === 'read' ? 1 : 0));
  const known = async (rememberedTurns: number) => {
    reads = 0;
    const stored = { ...storedOn(fs), limits: { ...defaultLimits, rememberedTurns } };
    const { checkpoint } = (await readOwnMetadata(stored))?.metadata ?? {};
    if (!checkpoint) throw new Error('no checkpoint');
    const results = await readFinished(stored, checkpoint);
    return { turns: results.map(([turnId]) => turnId.slice(6)), reads: reads - 1 };
  };
  const few = await known(2);
  expect(few.turns).toEqual(['10', '11']);
  expect(few.reads).toBeLessThan(3);
  expect((await known(100)).turns.length).toBe(12);
});

/** The instance as the functions below the journal see it. */
function storedOn(fs: Fs) {
  const paths = instancePaths(workspaceFolder(simulatedLocation.stateRoot, simulatedLocation.workspaceId), coder);
  return { ...simulatedMachine(fs, 2), paths, address: coder, limits: defaultLimits };
}

test('deletes the oldest files above the limit', async () => {
  const { disk, journal } = await run(30, { archive: { bytes: 2000, files: 2 } });
  expect((await archives(disk))?.length).toBe(3);
  const ids = (await collect(journal.archive(coder))).map(({ turnId }) => turnId);
  expect(ids.at(-1)).toBe('turn-e29');
  expect(ids.length).toBeLessThan(12);
  expect((await journal.read(coder)).messages.length).toBe(60);
});

test('a missing turn in the middle is an error, after the turns before it', async () => {
  const { disk, journal } = await run(12, { archive: { bytes: 2000, files: 100 } });
  const second = (await archives(disk))?.[1] ?? '';
  await disk.remove(`${messages}/${second}`);
  const seen: string[] = [];
  const reading = (async () => {
    for await (const { turnId } of journal.archive(coder)) seen.push(turnId);
  })();
  expect(await rejectionOf(reading)).toMatchObject({ code: 'E_STORE_CORRUPT' });
  expect(seen.length).toBeGreaterThan(0);
});

test('a file that is rotated during the read is read once and completely', async () => {
  const { disk, journal } = await run(3, { archive: { bytes: 2000, files: 100 } });
  const before = (await archives(disk))?.length;
  let turns = 3;
  let isReading = false;
  const fs = failingFs(disk, () => undefined);
  const read = async (path: string) => {
    const bytes = await fs.read(path);
    if (!path.endsWith('/events.jsonl') || isReading || turns > 8) return bytes;
    isReading = true;
    for (; turns <= 8; turns += 1) await runSimpleTurn(journal, coder, `e${turns}`);
    return bytes;
  };
  const ids = (await collect(readArchive(storedOn({ ...fs, read })))).map(({ turnId }) => turnId);
  expect((await archives(disk))?.length).toBeGreaterThan(before ?? 0);
  expect(ids).toEqual(Array.from({ length: 9 }, (_, index) => `turn-e${index}`));
});

test('a read that overlaps with a write of the owner is repeated', async () => {
  const { disk } = await run(3, {});
  let reads = 0;
  const fs = failingFs(disk, () => undefined);
  const read = async (path: string) => {
    const bytes = await fs.read(path);
    reads += 1;
    if (!bytes || reads > 1) return bytes;
    // The end of the last frame was written after its beginning was read.
    const last = bytes.lastIndexOf(0x0a, bytes.lastIndexOf(0x0a) - 1) + 1;
    return Uint8Array.from(bytes).fill(0, last, last + 7);
  };
  expect((await collect(readArchive(storedOn({ ...fs, read })))).length).toBe(3);
});
