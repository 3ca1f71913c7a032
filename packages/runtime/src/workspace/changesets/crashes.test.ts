import { describe, expect, test } from 'bun:test';
import { dirname } from 'node:path';
import { sampledCases, samples, sampleStep } from '../../../../../test/samples.ts';
import { systemClock } from '../../ports/clock.ts';
import { failingBundleFs, systemError } from '../simulation/failing-fs.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { simulatedBundleDisk } from '../simulation/simulated-bundle-disk.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import type { BundleFs } from '../../ports/bundle-fs.ts';
import type { ChangesetRecord } from './changeset-record.ts';
import type { Changesets } from './changesets.ts';
import { openChangesets } from './open-changesets.ts';

const owner = { swarm: 'shop', agent: 'coder', instanceKey: 'default' };

/** The files before and after the changeset; `undefined` is no file. */
const files: Readonly<Record<string, readonly [old: string | undefined, next: string | undefined]>> = {
  'goondan.yaml': ['kind: Swarm', 'kind: Swarm # changed'],
  'prompts/a.md': ['old prompt', 'new prompt'],
  'prompts/gone.md': ['to be deleted', undefined],
  'tools/weather/index.ts': [undefined, 'export const handlers = {};'],
  'tools/weather/table.ts': [undefined, 'export const table = 1;'],
};
const untouched: Readonly<Record<string, string>> = { 'README.md': 'nobody edits this', 'prompts/b.md': 'nor this' };

/** A crash of a recovery at every third operation, and in `npm test` at every ninth. */
const RECOVERED = sampleStep === 1 ? 3 : 9;

type Sides = 'old' | 'new';

const actions = [
  ['a commit', apply, ['open', 'applying', 'committed']],
  ['a commit that is taken back', applyAndRevert, ['open', 'applying', 'reverting', 'open']],
  ['an undo', undo, ['committed', 'undoing', 'undone']],
  ['an undo that is taken back', undoAndRedo, ['committed', 'undoing', 'applying', 'committed']],
] as const;

/** The state in which recovery leaves a changeset, by the state in which a crash left it. */
const recovered: Readonly<Record<string, string>> = { applying: 'committed', reverting: 'open', undoing: 'undone' };

test.each(actions)(
  'a crash at every operation of %s leaves all old or all new files, and the record says which',
  async (_, act, states) => {
    const moments = await watch(await diskWithChangeset(states[0] === 'open'), act);
    expect(moments.length).toBeGreaterThan(25);
    const seen: string[] = [];
    for (const moment of moments) {
      const { state } = await onlyRecord(moment);
      if (seen.at(-1) !== state) seen.push(state);
    }
    expect(seen).toEqual([...states]);
    await crashAtEach(moments);
  },
);

test('a crash at every operation of a recovery leaves all old or all new files, and the record says which', async () => {
  const moments = [
    ...(await watch(await diskWithChangeset(true), apply)),
    ...(await watch(await diskWithChangeset(false), undo)),
  ];
  let count = 0;
  for (const [index, moment] of moments.entries()) {
    const recovering = await watch(moment.crash('power', seededRandom(index)), (changesets) => changesets.recover());
    count += recovering.length;
    await crashAtEach(recovering.filter((_, place) => place % RECOVERED === index % RECOVERED));
  }
  expect(count).toBeGreaterThan(200);
});

test.each(actions)(
  'a file that was edited by hand after a crash in %s is left alone and said, and the others are old',
  async (_, act, states) => {
    let count = 0;
    for (const moment of await watch(await diskWithChangeset(states[0] === 'open'), act)) {
      const disk = moment.crash('kill', seededRandom(1));
      await put(disk, '/bundle/prompts/a.md', 'edited by hand');
      const before = await onlyRecord(disk);
      const recoveries = await changesetsOn(disk).recover();
      if (recovered[before.state] === undefined) {
        expect(recoveries).toEqual([]);
        continue;
      }
      count += 1;
      const outcome = states[0] === 'open' ? 'open' : 'undone';
      const record = await onlyRecord(disk);
      expect(recoveries).toEqual([{ outcome, leftAlone: ['prompts/a.md'], record }]);
      expect(record.state).toBe(outcome);
      expect(record.commit === undefined).toBe(outcome === 'open');
      expect(record.notes?.at(-1)).toContain('prompts/a.md');
      if (before.state === 'applying' && outcome === 'open') expect(record.notes?.[0]).toContain('was interrupted');
      expect(await text(disk, 'prompts/a.md')).toBe('edited by hand');
      await put(disk, '/bundle/prompts/a.md', 'old prompt');
      await expectWhole(disk);
    }
    expect(count).toBeGreaterThan(20);
  },
);

test('a file that is edited by hand at any moment of a commit is not overwritten, except in the last operation', async () => {
  let overwritten = 0;
  let conflicts = 0;
  for (let at = 1; ; at += 1) {
    const disk = await diskWithChangeset(true);
    let count = 0;
    let pending = Promise.resolve();
    const slow = failingBundleFs(simulatedBundleDisk(disk), () => {
      count += 1;
      if (count === at) pending = put(disk, '/bundle/prompts/a.md', 'edited by hand');
    });
    const outcome = await apply(changesetsOn(slow)).catch((error: unknown) => error);
    await pending;
    if (count < at) break;
    const isKept = (await text(disk, 'prompts/a.md')) === 'edited by hand';
    if (!isKept) overwritten += 1;
    if (outcome !== undefined) {
      expect(outcome).toMatchObject({ code: 'E_CHANGESET_CONFLICT' });
      expect(isKept).toBe(true);
      conflicts += 1;
    }
    await put(disk, '/bundle/prompts/a.md', outcome === undefined ? 'new prompt' : 'old prompt');
    await expectWhole(disk);
  }
  expect(conflicts).toBeGreaterThan(50);
  expect(overwritten).toBeLessThanOrEqual(1);
});

describe('a disk error', () => {
  test.each([
    ['a commit', 'once', apply, false],
    ['a commit', 'from then on', apply, true],
    ['an undo', 'once', undo, false],
    ['an undo', 'from then on', undo, true],
  ] as const)(
    'at every operation of %s, %s, leaves all old or all new files after recovery',
    async (_, __, act, stays) => {
      let failures = 0;
      for (let at = 1; ; at += 1) {
        const disk = await diskWithChangeset(act === apply);
        let count = 0;
        const failing = failingBundleFs(simulatedBundleDisk(disk), () => {
          count += 1;
          if (count === at || (stays && count > at)) throw systemError('ENOSPC');
        });
        const error = await act(changesetsOn(failing)).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        if (error !== undefined) {
          failures += 1;
          expect(error).toMatchObject({ code: expect.stringMatching(/^E_(DISK_FULL|STORE_READ)$/) });
          // One failure is not a reason to leave anything unfinished.
          if (!stays) {
            expect((await onlyRecord(disk)).state).toBe(act === apply ? 'open' : 'committed');
            for (const seed of sampledCases([1, 2, 3], 3))
              await expectWhole(disk.crash('power', seededRandom(at, seed)));
          }
        }
        await changesetsOn(disk).recover();
        await expectWhole(disk);
        if (count < at) break;
      }
      expect(failures).toBeGreaterThan(50);
    },
  );
});

async function crashAtEach(moments: readonly SimulatedDisk[]): Promise<void> {
  for (const [index, moment] of moments.entries()) {
    const seeds = Array.from({ length: samples(10, 10) }, (_, seed) => seed);
    const disks = [
      moment.crash('kill', seededRandom(index)),
      ...seeds.map((seed) => moment.crash('power', seededRandom(index * 100 + seed))),
    ];
    for (const disk of disks) {
      const before = await onlyRecord(disk);
      const recoveries = await changesetsOn(disk).recover();
      await expectWhole(disk);
      const record = await onlyRecord(disk);
      expect<string>(record.state).toBe(recovered[before.state] ?? before.state);
      for (const recovery of recoveries)
        expect<object>(recovery).toEqual({ outcome: record.state, record, leftAlone: [] });
      expect(await changesetsOn(disk).recover()).toEqual([]);
    }
  }
}

async function expectWhole(disk: SimulatedDisk): Promise<void> {
  const record = await onlyRecord(disk);
  expect(['open', 'committed', 'undone']).toContain(record.state);
  expect(await sideOf(disk)).toBe(record.state === 'committed' ? 'new' : 'old');
  for (const [path, content] of Object.entries(untouched)) expect(await text(disk, path)).toBe(content);
  expect(await namesIn(disk, '/bundle')).toEqual(
    record.state === 'committed'
      ? [
          'README.md',
          'goondan.yaml',
          'prompts/a.md',
          'prompts/b.md',
          'tools/weather/index.ts',
          'tools/weather/table.ts',
        ]
      : ['README.md', 'goondan.yaml', 'prompts/a.md', 'prompts/b.md', 'prompts/gone.md'],
  );
}

async function sideOf(disk: SimulatedDisk): Promise<Sides | 'mixed'> {
  const found = await Promise.all(Object.keys(files).map((path) => text(disk, path)));
  const pairs = Object.values(files);
  if (found.every((content, index) => content === pairs[index]?.[0])) return 'old';
  return found.every((content, index) => content === pairs[index]?.[1]) ? 'new' : 'mixed';
}

/** Runs an action and returns the disk as it was after each of its changes. */
async function watch(
  disk: SimulatedDisk,
  act: (changesets: Changesets) => Promise<unknown>,
): Promise<readonly SimulatedDisk[]> {
  const moments = [disk.copy()];
  disk.afterOperation = () => void moments.push(disk.copy());
  await act(changesetsOn(disk));
  disk.afterOperation = undefined;
  return moments;
}

/** Makes a disk with a bundle and a changeset that is open, or else committed. */
async function diskWithChangeset(isOpen: boolean): Promise<SimulatedDisk> {
  const disk = SimulatedDisk.empty();
  for (const [path, [old]] of Object.entries(files)) if (old !== undefined) await put(disk, `/bundle/${path}`, old);
  for (const [path, content] of Object.entries(untouched)) await put(disk, `/bundle/${path}`, content);
  const changesets = changesetsOn(disk);
  const { id } = await changesets.open(owner);
  for (const [path, [, next]] of Object.entries(files)) await changesets.write(id, path, next ?? null);
  if (!isOpen) await apply(changesets);
  return disk;
}

async function apply(changesets: Changesets, whileApplied = async () => undefined as void): Promise<void> {
  const id = await onlyId(changesets);
  const { edits, digest } = await changesets.edits(id);
  await changesets.apply(id, edits, { digest, baseRef: 'b', newRef: 'n', addedTools: ['weather'] }, whileApplied);
}

async function applyAndRevert(changesets: Changesets): Promise<void> {
  expect(await rejectionOf(apply(changesets, () => Promise.reject(new Error('refused'))))).toMatchObject({
    message: 'refused',
  });
}

async function undo(changesets: Changesets): Promise<void> {
  await changesets.undo(await onlyId(changesets), 'ann', async () => undefined);
}

async function undoAndRedo(changesets: Changesets): Promise<void> {
  const refused = changesets.undo(await onlyId(changesets), 'ann', () => Promise.reject(new Error('refused')));
  expect(await rejectionOf(refused)).toMatchObject({ message: 'refused' });
}

function changesetsOn(fs: SimulatedDisk | BundleFs): Changesets {
  return openChangesets({
    stateRoot: '/state',
    bundleFolder: '/bundle',
    clock: systemClock,
    fs: fs instanceof SimulatedDisk ? simulatedBundleDisk(fs) : fs,
    takeLock: async () => ({ release: () => undefined }),
    warn: ({ message }) => {
      // A failing disk may keep the last record from being written; nothing else is worth a warning here.
      expect(message).toContain('could not be written');
    },
  });
}

async function onlyId(changesets: Changesets): Promise<string> {
  return (await changesets.list())[0]?.id ?? '';
}

async function onlyRecord(disk: SimulatedDisk): Promise<ChangesetRecord> {
  const [record, ...others] = await changesetsOn(disk).list();
  if (record === undefined || others.length > 0) throw new Error('there is not one changeset');
  return record;
}

async function put(disk: SimulatedDisk, path: string, content: string): Promise<void> {
  await makeAll(disk, dirname(path));
  const file = await disk.openFile(path);
  await file.truncate(0);
  await file.append(new TextEncoder().encode(content));
  await file.sync();
  await disk.syncFolder(dirname(path));
}

async function makeAll(disk: SimulatedDisk, folder: string): Promise<void> {
  if (folder === '/') return;
  await makeAll(disk, dirname(folder));
  await disk.makeFolder(folder);
  await disk.syncFolder(dirname(folder));
}

async function text(disk: SimulatedDisk, path: string): Promise<string | undefined> {
  if ((await disk.stat(dirname(`/bundle/${path}`))) === undefined) return undefined;
  const bytes = await disk.read(`/bundle/${path}`);
  return bytes && new TextDecoder().decode(bytes);
}

async function namesIn(disk: SimulatedDisk, folder: string): Promise<string[]> {
  const names: string[] = [];
  for (const name of (await disk.list(folder)) ?? []) {
    const inside = await disk.list(`${folder}/${name}`).then(
      () => true,
      () => false,
    );
    const below = inside ? await namesIn(disk, `${folder}/${name}`) : [''];
    // An empty folder counts as a name, so that a folder that was left behind is seen.
    for (const each of below.length === 0 ? ['/'] : below) names.push(each === '' ? name : `${name}/${each}`);
  }
  return names.toSorted();
}
