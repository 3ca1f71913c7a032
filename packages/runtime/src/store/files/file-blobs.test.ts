// Crashes the disk after every operation of a workload with files, and checks what the next start finds.
import { describe, expect, test } from 'bun:test';
import { type AgentAddress, type AgentEvent, digestOfReference, fileReferenceOf } from '@goondan/types';
import { sha256 } from '../../json/sha256.ts';
import type { Fs } from '../../ports/fs.ts';
import { newUuid } from '../../ports/ids.ts';
import { eventOf } from '../../testing/conformance/conformance.ts';
import { type Journal, openJournal } from '../../workspace/journal/journal.ts';
import { findLostFiles } from '../../workspace/blobs/find-lost-files.ts';
import { workspaceFolder } from '../../workspace/layout/instance-paths.ts';
import { makeFolders } from '../../workspace/layout/make-folders.ts';
import { seededRandom } from '../../workspace/simulation/seeded-random.ts';
import { SimulatedDisk } from '../../workspace/simulation/simulated-disk.ts';
import { simulatedLimits, simulatedLocation, simulatedMachine } from '../../workspace/simulation/simulated-machine.ts';
import { takeContent } from '../take-content.ts';
import { withBlobs } from './blob-admin.ts';
import { fileBlobs } from './file-blobs.ts';

const bytesOf = (name: string) => new TextEncoder().encode(`the bytes of ${name}`);
const at = (instanceKey: string): AgentAddress => ({ agentName: 'conformance', instanceKey });
const workspace = workspaceFolder(simulatedLocation.stateRoot, simulatedLocation.workspaceId);
const limits = { maxFileBytes: 1_000 };

async function open(disk: SimulatedDisk, life: number) {
  const journal = await openJournal(simulatedMachine(disk, life), simulatedLocation, simulatedLimits);
  await journal.openInbox();
  const blobs = fileBlobs(simulatedLocation, disk);
  return { journal, blobs, admin: withBlobs(journal, blobs) };
}

/** Makes a workspace without files. */
async function newBlobs() {
  const disk = SimulatedDisk.empty();
  await makeFolders(disk, simulatedLocation.stateRoot, workspace);
  return { disk, blobs: fileBlobs(simulatedLocation, disk) };
}

async function openNew() {
  const { disk } = await newBlobs();
  return { disk, opened: await open(disk, 1) };
}

type Opened = Awaited<ReturnType<typeof open>>;

/** Accepts an event with files, as the orchestrator does. */
async function accept(
  { journal, blobs }: Opened,
  to: AgentAddress,
  id: string,
  files: readonly string[],
): Promise<void> {
  const parts = files.map((name) => ({
    type: 'file' as const,
    data: Buffer.from(bytesOf(name)).toString('base64'),
    mediaType: 'text/plain',
    filename: name,
  }));
  const { content, digests } = await takeContent(blobs, to, parts, limits);
  await journal.accept(to, eventOf(id, { instanceKey: to.instanceKey, content }));
  await blobs.named(to, digests);
}

async function namedIn(journal: Journal): Promise<ReadonlySet<string>> {
  const events: AgentEvent[] = [];
  for (const instance of await journal.instances()) events.push(...(await journal.pending(instance)));
  const digests = events.flatMap(({ content = [] }) =>
    content.flatMap((part) => (part.type === 'file' ? [digestOfReference(part.data) ?? ''] : [])),
  );
  return new Set(digests);
}

async function storedOn(disk: SimulatedDisk): Promise<readonly string[]> {
  return ((await disk.list(`${workspace}/blobs/data`)) ?? []).filter((name) => !name.startsWith('.'));
}

/** Checks a disk after a crash: no accepted event names missing bytes, and nothing else is left. */
async function checkAfter(disk: SimulatedDisk, acknowledged: ReadonlySet<string>): Promise<void> {
  const { journal, blobs, admin } = await open(disk, 2);
  await admin.sweep();
  const named = await namedIn(journal);
  for (const digest of named) expect(await blobs.get(digest)).toBeDefined();
  const ids = new Set<string>();
  for (const instance of await journal.instances()) for (const { id } of await journal.pending(instance)) ids.add(id);
  expect([...acknowledged].filter((id) => !ids.has(id))).toEqual([]);
  expect((await storedOn(disk)).toSorted()).toEqual([...named].toSorted());
  await journal.close();
}

async function simulate(mode: 'kill' | 'power', seed: number): Promise<number> {
  const random = seededRandom(seed);
  const { disk } = await newBlobs();
  const acknowledged = new Set<string>();
  const crashes: { readonly disk: SimulatedDisk; readonly acknowledged: ReadonlySet<string> }[] = [];
  disk.afterOperation = () =>
    void crashes.push({ disk: disk.crash(mode, random), acknowledged: new Set(acknowledged) });
  const opened = await open(disk, 1);
  const send = async (key: string, id: string, files: readonly string[]) => {
    await accept(opened, at(key), id, files);
    acknowledged.add(id);
  };
  await send('one', 'a', ['cat', 'dog']);
  await send('one', 'b', ['cat', 'cow']);
  await send('two', 'c', ['cat']);
  // The deletion is acknowledged when it is over. Until then the events may be there or not.
  for (const id of ['a', 'b']) acknowledged.delete(id);
  await Promise.all([opened.admin.delete(at('one'), { force: true }), send('three', 'd', ['dog', 'cow'])]);
  await send('one', 'e', ['dog']);
  await opened.journal.close();
  disk.afterOperation = undefined;
  for (const crash of crashes) await checkAfter(crash.disk, crash.acknowledged);
  await checkAfter(disk, acknowledged);
  return crashes.length;
}

describe('Y-02 files on a disk that crashes', () => {
  test.each([
    ['kill', 1],
    ['power', 2],
    ['power', 3],
  ] as const)('no accepted event names missing bytes, and no orphan is left (%s, seed %p)', async (mode, seed) => {
    expect(await simulate(mode, seed)).toBeGreaterThan(60);
  });
});

test('Y-02 bytes that are damaged on disk are refused', async () => {
  const { disk, blobs } = await newBlobs();
  const digest = await blobs.put(at('one'), bytesOf('cat'));
  const file = await disk.openFile(`${workspace}/blobs/data/${digest}`);
  await file.append(new Uint8Array([1]));
  expect(blobs.get(digest)).rejects.toMatchObject({ code: 'E_STORE_CORRUPT' });
});

test.each([
  ['longer', (whole: Uint8Array) => Buffer.concat([whole, new Uint8Array([1])])],
  ['empty', () => new Uint8Array()],
  ['changed', (whole: Uint8Array) => whole.map((byte) => byte ^ 1)],
])('Y-02 bytes whose file is %s are replaced when they are stored again', async (_, damage) => {
  const { disk, blobs } = await newBlobs();
  const digest = await blobs.put(at('one'), bytesOf('cat'));
  const path = `${workspace}/blobs/data/${digest}`;
  await disk.remove(path);
  await disk.createNew(path, damage(bytesOf('cat')));
  await blobs.put(at('two'), bytesOf('cat'));
  expect(await blobs.get(digest)).toEqual(bytesOf('cat'));
  expect(await disk.list(`${workspace}/blobs/data`)).toEqual([digest]);
});

test('Y-02 bytes that were stored again stay, although their removal had begun with damaged ones', async () => {
  const { disk, blobs } = await newBlobs();
  const digest = sha256(bytesOf('cat'));
  await blobs.put(at('two'), bytesOf('dog'));
  const path = `${workspace}/blobs/data/${digest}`;
  await disk.createNew(`${path}.removed`, bytesOf('no cat'));
  await blobs.put(at('one'), bytesOf('cat'));
  // The next removal finishes the one before it.
  await blobs.release(at('two'));
  expect(await blobs.get(digest)).toEqual(bytesOf('cat'));
  expect(await disk.list(`${workspace}/blobs/data`)).toEqual([digest]);
});

test('Y-02 bytes that are missing or damaged are found, with the conversations that name them', async () => {
  const { disk, opened } = await openNew();
  const { blobs, journal } = opened;
  const data = `${workspace}/blobs/data`;
  await accept(opened, at('one'), 'a', ['cat', 'dog']);
  await accept(opened, at('two'), 'b', ['cat', 'cow']);
  await blobs.put({ upload: 'under way' }, bytesOf('ant'));
  // Nothing names these yet.
  await blobs.put(at('one'), bytesOf('bee'));
  expect(await blobs.findLost()).toEqual([]);
  for (const name of ['ant', 'bee', 'cat']) await disk.remove(`${data}/${sha256(bytesOf(name))}`);
  const cow = `${data}/${sha256(bytesOf('cow'))}`;
  await (await disk.openFile(cow)).append(new Uint8Array([1]));
  const cat = sha256(bytesOf('cat'));
  const lost = await blobs.findLost();
  expect(lost).toContainEqual({
    conversation: 'conformance~one',
    digest: cat,
    problem: 'missing',
    place: `${data}/${cat}`,
  });
  expect(lost.map(({ conversation, place, problem }) => `${conversation} ${problem} ${place}`).toSorted()).toEqual([
    `conformance~one missing ${data}/${cat}`,
    `conformance~two damaged ${cow}`,
    `conformance~two missing ${data}/${cat}`,
  ]);
  await opened.admin.delete(at('one'), { force: true });
  await blobs.put(at('three'), bytesOf('cat'));
  expect((await blobs.findLost()).map(({ place }) => place)).toEqual([cow]);
  await journal.close();
});

test('Y-02 bytes are not lost if their conversation is deleted during the search, and its name or its bytes come back', async () => {
  const { disk, opened } = await openNew();
  await accept(opened, at('one'), 'a', ['cat']);
  await accept(opened, at('two'), 'b', ['cow']);
  let isMet = false;
  const search = (again: readonly [key: string, bytes: string]) => {
    isMet = false;
    const read: Fs['read'] = async (path, ...part) => {
      if (!isMet && path.includes('/blobs/data/')) {
        isMet = true;
        for (const key of ['one', 'two']) await opened.admin.delete(at(key), { force: true });
        await accept(opened, at(again[0]), `again ${again[0]}`, [again[1]]);
        await accept(opened, at('two'), `again two, ${again[0]}`, ['cow']);
      }
      return disk.read(path, ...part);
    };
    return fileBlobs(simulatedLocation, changed(disk, { read })).findLost();
  };
  expect(await search(['one', 'dog'])).toEqual([]);
  expect(isMet).toBe(true);
  await accept(opened, at('one'), 'c', ['cat']);
  expect(await search(['three', 'cat'])).toEqual([]);
  await opened.journal.close();
});

test('Y-02 logs are searched for lost bytes only if the lists of uses are gone', async () => {
  const { disk } = await newBlobs();
  const conversation = `${workspace}/instances/conformance~one`;
  await makeFolders(disk, workspace, conversation);
  const digest = await fileBlobs(simulatedLocation, disk).put(at('two'), bytesOf('cat'));
  await disk.createNew(`${conversation}/log`, Buffer.from(`{"data":"${fileReferenceOf(digest)}"}`));
  const read: string[] = [];
  const counting = changed(disk, {
    read: (...given) => {
      read.push(given[0]);
      return disk.read(...given);
    },
  });
  const blobs = fileBlobs(simulatedLocation, counting);
  await blobs.named(at('two'), [digest]);
  expect(await blobs.findLost()).toEqual([]);
  expect(read.filter((path) => path.startsWith(conversation))).toEqual([]);
  await disk.removeFolder(`${workspace}/blobs`);
  expect(await blobs.findLost()).toMatchObject([{ conversation: 'conformance~one', digest, problem: 'missing' }]);
  // A restore does not read its copy again, unless something shows that there were files: the backup did so.
  const place = { fs: disk, workspace, readDigest: async () => undefined };
  expect(await findLostFiles(place)).toEqual([]);
  await makeFolders(disk, workspace, `${workspace}/blobs`);
  expect(await findLostFiles(place)).toMatchObject([{ conversation: 'conformance~one', digest }]);
});

test('Y-02 100 files that are sent twice are stored once', async () => {
  const { disk, opened } = await openNew();
  const names = Array.from({ length: 100 }, (_, index) => `file ${index}`);
  await accept(opened, at('one'), 'a', names);
  await accept(opened, at('two'), 'b', names);
  expect((await storedOn(disk)).toSorted()).toEqual(names.map((name) => sha256(bytesOf(name))).toSorted());
  const [event] = await opened.journal.pending(at('two'));
  expect(event?.content?.[7]).toMatchObject({ data: fileReferenceOf(sha256(bytesOf('file 7'))), filename: 'file 7' });
});

/** Returns the disk with other functions. */
function changed(disk: SimulatedDisk, functions: Partial<Pick<Fs, 'rename' | 'remove' | 'read'>>): Fs {
  return new Proxy(disk, {
    get(of, name) {
      const own: unknown = Reflect.get(name in functions ? functions : of, name);
      return typeof own === 'function' ? own.bind(of) : own;
    },
  });
}

test('Y-02 bytes that are used again while they are being removed stay', async () => {
  const { disk } = await newBlobs();
  const other = fileBlobs(simulatedLocation, disk);
  let isFirst = true;
  const meeting = changed(disk, {
    async rename(from, to) {
      if (to.endsWith('.removed') && isFirst) {
        isFirst = false;
        await other.put(at('two'), bytesOf('cat'));
      }
      await disk.rename(from, to);
    },
  });
  const blobs = fileBlobs(simulatedLocation, meeting);
  const digest = await blobs.put(at('one'), bytesOf('cat'));
  await blobs.release(at('one'));
  expect([isFirst, await other.get(digest)]).toEqual([false, bytesOf('cat')]);
  expect(await storedOn(disk)).toEqual([digest]);
});

test('Y-02 two releases at once do not remove bytes that are stored meanwhile', async () => {
  const { disk } = await newBlobs();
  const agent = fileBlobs(simulatedLocation, disk);
  const [stored, moved] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let moves = 0;
  const meeting = changed(disk, {
    async rename(from, to) {
      const isSecond = to.endsWith('.removed') && (moves += 1) === 2;
      if (isSecond) await stored.promise;
      await disk.rename(from, to);
      if (isSecond) moved.resolve();
    },
    async remove(path) {
      if (path.endsWith('.removed')) {
        await agent.put(at('two'), bytesOf('cat'));
        stored.resolve();
        // The second release waits for the first one, so it moves nothing now.
        await Promise.race([moved.promise, new Promise((resolve) => void setTimeout(resolve, 5))]);
      }
      await disk.remove(path);
    },
  });
  const blobs = fileBlobs(simulatedLocation, meeting);
  const uploads = ['a', 'b'].map((upload) => ({ upload }));
  for (const upload of uploads) await blobs.put(upload, bytesOf('cat'));
  await Promise.allSettled(uploads.map((upload) => blobs.release(upload)));
  expect(await agent.get(sha256(bytesOf('cat')))).toEqual(bytesOf('cat'));
});

test('Y-02 bytes whose removal has begun can be used, and a draft of a use is no use', async () => {
  const { disk, blobs } = await newBlobs();
  const digest = await blobs.put(at('one'), bytesOf('cat'));
  await disk.rename(`${workspace}/blobs/data/${digest}`, `${workspace}/blobs/data/${digest}.removed`);
  expect(await blobs.size(digest)).toBe(bytesOf('cat').length);
  await blobs.use(at('two'), [digest]);
  expect(await storedOn(disk)).toEqual([digest]);
  await disk.createNew(`${workspace}/blobs/uses/conformance~one/${digest}.new.draft`, new Uint8Array());
  expect(await blobs.usedBy(at('one'))).toEqual([digest]);
});

describe('Y-02 a sweep', () => {
  const uses = `${workspace}/blobs/uses`;

  test('keeps only uses of conversations that are there, and no drafts', async () => {
    const { disk, opened } = await openNew();
    await accept(opened, at('one'), 'a', ['cat']);
    // The deletion of this conversation was interrupted after its use was marked as named.
    const gone = await opened.blobs.put(at('gone'), bytesOf('dog'));
    await opened.blobs.named(at('gone'), [gone]);
    await disk.createNew(`${workspace}/blobs/data/.${newUuid()}`, new Uint8Array([1]));
    await opened.admin.sweep();
    expect(await storedOn(disk)).toEqual([sha256(bytesOf('cat'))]);
    expect(await disk.list(`${workspace}/blobs/data`)).toHaveLength(1);
    expect(await disk.list(uses)).toEqual(['conformance~one']);
  });

  test('ends uploads of an earlier process, also if the inbox names their bytes', async () => {
    const { disk, opened } = await openNew();
    await opened.blobs.put({ upload: 'left' }, bytesOf('cat'));
    await accept(opened, at('one'), 'a', ['cat']);
    await opened.admin.sweep();
    expect(await disk.list(uses)).toEqual(['conformance~one']);
  });

  test('finishes a removal, unless the bytes are used again', async () => {
    const { disk, opened } = await openNew();
    await accept(opened, at('one'), 'a', ['cat']);
    const unused = await opened.blobs.put({ upload: 'left' }, bytesOf('dog'));
    for (const digest of [sha256(bytesOf('cat')), unused]) {
      await disk.rename(`${workspace}/blobs/data/${digest}`, `${workspace}/blobs/data/${digest}.removed`);
    }
    await opened.admin.sweep();
    expect(await disk.list(`${workspace}/blobs/data`)).toEqual([sha256(bytesOf('cat'))]);
  });

  test.each([
    ['all uses', uses],
    ['the uses of one conversation', `${uses}/conformance~one`],
  ])('finds %s again that were lost, in the logs and in the inbox', async (_, folder) => {
    const { disk, opened } = await openNew();
    const conversation = `${workspace}/instances/conformance~one`;
    await makeFolders(disk, workspace, conversation);
    const dog = await opened.blobs.put(at('one'), bytesOf('dog'));
    await disk.createNew(`${conversation}/log`, Buffer.from(`{"data":"${fileReferenceOf(dog)}"}`));
    await accept(opened, at('one'), 'a', ['cat']);
    await accept(opened, at('two'), 'b', ['cow']);
    const unnamed = await opened.blobs.put({ upload: 'left' }, bytesOf('ant'));
    await disk.rename(`${workspace}/blobs/data/${dog}`, `${workspace}/blobs/data/${dog}.removed`);
    await disk.removeFolder(folder);
    for (let starts = 1; starts <= 2; starts += 1) {
      await opened.admin.sweep();
      expect((await storedOn(disk)).toSorted()).toEqual(
        ['cat', 'cow', 'dog'].map((n) => sha256(bytesOf(n))).toSorted(),
      );
    }
    expect(await opened.blobs.usedBy(at('one'))).toContain(dog);
    expect(await opened.blobs.get(unnamed)).toBeUndefined();
  });

  test('ends the uses of input that is handled, and that only the inbox had named', async () => {
    const { disk, opened } = await openNew();
    await accept(opened, at('one'), 'a', ['cat', 'dog']);
    await disk.removeFolder(uses);
    await opened.admin.sweep();
    expect(await disk.list(uses)).toEqual(['.inbox']);
    const cat = sha256(bytesOf('cat'));
    await makeFolders(disk, workspace, `${workspace}/instances/conformance~one`);
    await disk.createNew(`${workspace}/instances/conformance~one/log`, Buffer.from(fileReferenceOf(cat)));
    await disk.removeFolder(`${workspace}/inbox`);
    await opened.blobs.sweep();
    expect([await disk.list(uses), await storedOn(disk)]).toEqual([['conformance~one'], [cat]]);
  });

  test('removes only files of its own', async () => {
    const { disk, blobs } = await newBlobs();
    await blobs.put(at('one'), bytesOf('cat'));
    const others = ['data/note.txt', 'data/.note', 'data/note.removed', 'uses/note.txt', 'uses/conformance~one/note'];
    for (const name of others) await disk.createNew(`${workspace}/blobs/${name}`, new Uint8Array());
    await blobs.sweep();
    expect((await storedOn(disk)).toSorted()).toEqual(['note.removed', 'note.txt']);
    for (const name of others) expect([name, await disk.stat(`${workspace}/blobs/${name}`)]).not.toContain(undefined);
  });
});
