// Readers take no lock. Here another process changes a conversation between any two operations of a reader, and stops
// after any number of its own operations. No reader may call that damage.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { type AgentAddress, GoondanError } from '@goondan/types';
import { sampleStep } from '../../../../../test/samples.ts';
import type { Fs } from '../../ports/fs.ts';
import { type Journal, openJournal } from '../../workspace/journal/journal.ts';
import { instanceFolderName } from '../../workspace/layout/instance-paths.ts';
import { defaultLimits, type StoreLimits } from '../../workspace/limits.ts';
import { pausedFs } from '../../workspace/simulation/paused-fs.ts';
import { rejectionOf } from '../../workspace/simulation/rejection-of.ts';
import { SimulatedDisk } from '../../workspace/simulation/simulated-disk.ts';
import { simulatedLocation, simulatedMachine } from '../../workspace/simulation/simulated-machine.ts';
import { runSimpleTurn, simpleEvent } from '../../workspace/simulation/simulated-turn.ts';
import type { StoreReader } from '../store.ts';
import { openStoreReader } from './open-store-reader.ts';

// `npm run proof` takes a minute for each change.
setDefaultTimeout(600_000);

const at = { agentName: 'coder', instanceKey: 'default' };
const fresh = { agentName: 'coder', instanceKey: 'new' };

/** Two turns fill a segment, and one deletes the oldest segment. */
const limits: StoreLimits = {
  ...defaultLimits,
  archive: { bytes: 1_200, files: 2 },
  checkpointBytes: 400,
  shortBaseBytes: 100,
  inboxCompactionBytes: 600,
  logRoom: { first: 512, most: 1_024 },
};

const open = (fs: Fs, life: number) => openJournal(simulatedMachine(fs, life), simulatedLocation, limits);

async function ownerOf(fs: Fs): Promise<Journal> {
  const owner = await open(fs, 2);
  await owner.openInbox();
  return owner;
}

async function takeTurn(owner: Journal, instance: AgentAddress, id: string): Promise<void> {
  await owner.accept(instance, simpleEvent(id));
  await runSimpleTurn(owner, instance, id, { extensionState: { memo: id, long: 'long '.repeat(1_000) } });
}

/** A conversation with several segments, and with a turn that was interrupted. */
async function written(): Promise<SimulatedDisk> {
  const disk = SimulatedDisk.empty();
  const owner = await open(disk, 1);
  for (const id of ['a', 'b', 'c', 'd', 'e']) await takeTurn(owner, at, id);
  await owner.accept(at, simpleEvent('f'));
  const entry = (await owner.pendingEntries(at)).find(({ event }) => event.id === 'f');
  const { epoch } = await owner.open(at, 'turn-f', entry);
  await owner.append(at, epoch, 0, [{ type: 'intent', key: '0/call', kind: 'tool' }]);
  await owner.close();
  return disk;
}

async function finishTurn(owner: Journal): Promise<void> {
  const result = { turnId: 'turn-f', finishReason: 'text_response' } as const;
  const [entry] = await owner.pendingEntries(at);
  const { epoch } = await owner.open(at, result.turnId, entry);
  await owner.commit(at, epoch, result.turnId, { type: 'append', messages: [] }, {}, result);
}

async function goOn(owner: Journal): Promise<void> {
  await finishTurn(owner);
  for (const id of ['g', 'h', 'i']) await takeTurn(owner, at, id);
  await owner.close();
}

async function createAgain(owner: Journal): Promise<void> {
  await owner.delete(at, { force: true });
  await takeTurn(owner, at, 'z');
}

const changes: Readonly<Record<string, (owner: Journal) => Promise<unknown>>> = {
  'is created': (owner) => takeTurn(owner, fresh, 'n'),
  'goes on': goOn,
  'is forked': (owner) => owner.fork(at, { as: 'new' }),
  'is reset': (owner) => owner.reset(at),
  'is deleted': (owner) => owner.delete(at, { force: true }),
  'is deleted and created again': createAgain,
};

const reads: Readonly<Record<string, (store: StoreReader, instance: AgentAddress) => Promise<unknown>>> = {
  messages: ({ history }, instance) => history.read(instance),
  'intact messages': ({ history }, instance) => history.readIntact(instance),
  history: async ({ history }, instance) => {
    const { turns } = await history.history(instance);
    for await (const _ of turns) continue;
  },
  'open turn': ({ history }, instance) => history.openTurn(instance),
  inputs: ({ inbox }, instance) => inbox.pendingEntries(instance),
  list: async ({ directory }) => {
    for (const instance of await directory.instances()) await directory.summary(instance);
  },
  'dead letters': ({ deadLetters }, instance) => deadLetters.list(instance),
  usage: ({ usage }) => usage.read(),
};

/**
 * Runs `change` before operation `when` of `read`, but only its first `much` operations; the others follow the read.
 * Returns what the reader says, and whether the read and the change had that many operations.
 */
async function meet(
  disk: SimulatedDisk,
  change: (owner: Journal) => Promise<unknown>,
  read: (store: StoreReader) => Promise<unknown>,
  { when, much }: { readonly when: number; readonly much: number },
) {
  const rest = Promise.withResolvers<void>();
  const cut = Promise.withResolvers<void>();
  let changing: Promise<unknown> | undefined;
  let [done, isCut] = [0, false];
  const cutting = async () => {
    if (changing === undefined || (done += 1) <= much) return;
    isCut = true;
    cut.resolve();
    await rest.promise;
  };
  const owner = await ownerOf(pausedFs(disk, cutting));
  let operations = 0;
  const meeting = async () => {
    if ((operations += 1) !== when) return;
    changing = Promise.resolve().then(() => change(owner));
    await Promise.race([changing, cut.promise]);
  };
  const machine = simulatedMachine(pausedFs(disk, meeting), 3);
  const store = openStoreReader({ ...machine, ...simulatedLocation });
  const said = await read(store).catch((error: unknown) => error);
  rest.resolve();
  await changing;
  await store.close();
  await owner.close();
  const warnings = machine.warnings.map(({ path, message }) => `E_STORE_ warning: ${path}: ${message}`);
  return { said, warnings, isMet: operations >= when, isCut };
}

/** Returns the words of a reader that calls something damaged. */
function alarmOf(said: unknown): string | undefined {
  if (said instanceof Error && !GoondanError.is(said)) return String(said.stack);
  const words = GoondanError.is(said) ? `${said.code}: ${said.message}` : (JSON.stringify(said) ?? '');
  return /E_STORE_|damaged|is missing/.test(words) ? words : undefined;
}

/** `npm run proof` tries every fifth point of the change, and `npm test` every 400th. */
const step = sampleStep === 1 ? 5 : 400;

for (const [name, change] of Object.entries(changes)) {
  test(`a conversation that ${name} is not damaged, whatever reads it`, async () => {
    const before = await written();
    const instance = name === 'is created' || name === 'is forked' ? fresh : at;
    const alarms: string[] = [];
    for (const [what, read] of Object.entries(reads)) {
      for (let when = 1, isMet = true; isMet; when += 1) {
        for (let much = 1 + ((when * 7) % step), isCut = true; isCut; much += step) {
          const disk = before.copy();
          const met = await meet(disk, change, (store) => read(store, instance), { when, much });
          ({ isMet } = met);
          isCut = isMet && met.isCut;
          const said = alarmOf(met.said) ?? alarmOf(met.warnings);
          if (said !== undefined) alarms.push(`${what}, before operation ${when}, ${much} operations: ${said}`);
        }
      }
    }
    expect(alarms).toEqual([]);
  });
}

const readersOn = (disk: SimulatedDisk, pause: Parameters<typeof pausedFs>[1] = async () => undefined) =>
  openStoreReader({ ...simulatedMachine(pausedFs(disk, pause), 3), ...simulatedLocation });

/** Returns a function that runs `change` once, before this operation on a path that ends like this. */
function once(wanted: string, end: string, change: () => Promise<unknown>) {
  let isMet = false;
  return async (operation: string, path: string): Promise<void> => {
    if (isMet || operation !== wanted || !path.endsWith(end)) return;
    isMet = true;
    await change();
  };
}

/** Begins the first turn of a conversation. */
async function beginTurn(owner: Journal): Promise<void> {
  await owner.accept(fresh, simpleEvent('n'));
  const { epoch } = await owner.open(fresh, 'turn-n', (await owner.pendingEntries(fresh))[0]);
  await owner.append(fresh, epoch, 0, [{ type: 'intent', key: '0/call', kind: 'tool' }]);
}

test('a conversation that is created after its reader has looked for the log is read again', async () => {
  const disk = SimulatedDisk.empty();
  const owner = await ownerOf(disk);
  const creating = once('stat', '~new/messages', () => beginTurn(owner));
  expect(await readersOn(disk, creating).history.openTurn(fresh)).toEqual({ turnId: 'turn-n', events: [] });
});

test('a conversation that is created after its reader has looked for the log is listed, whatever its key', async () => {
  const disk = SimulatedDisk.empty();
  const owner = await openJournal(simulatedMachine(disk, 2), simulatedLocation);
  const odd = { agentName: 'coder', instanceKey: 'a key/that is no name of a folder' };
  await disk.makeFolder(`/state/workspaces/simulation/instances/${instanceFolderName('coder', odd.instanceKey)}`);
  const creating = once('stat', '/messages', async () => {
    await takeTurn(owner, odd, 'o');
    // The line of another conversation says that the input is handled, so the inbox does not list it.
    await owner.accept(at, simpleEvent('a'));
  });
  expect(await readersOn(disk, creating).directory.instances()).toEqual([odd, at]);
});

test('input of a conversation that is deleted after its reader has read the log is not missing', async () => {
  const disk = SimulatedDisk.empty();
  const owner = await ownerOf(disk);
  await beginTurn(owner);
  await owner.close();
  const deleting = once('list', '/inbox', async () => (await ownerOf(disk)).delete(fresh, { force: true }));
  expect(await readersOn(disk, deleting).inbox.pendingEntries(fresh)).toEqual([]);
});

test('usage is read beside a deletion that has removed some files and goes on later', async () => {
  const disk = await written();
  const stopping = async (operation: string, path: string) => {
    if (operation === 'remove' && path.includes('/.deleted-')) throw new Error('stopped');
  };
  const owner = await ownerOf(pausedFs(disk, stopping));
  await owner.delete(at, { force: true });
  const instances = '/state/workspaces/simulation/instances';
  const [aside = ''] = (await disk.list(instances)) ?? [];
  expect(aside).toStartWith('.deleted-coder~default~');
  await disk.remove(`${instances}/${aside}/metadata.json`);
  expect(await readersOn(disk).usage.read()).toEqual({ spendings: [], problems: [] });
});

/** Reads the first turn of a history, changes the conversation, and reads on. Returns the turns that follow. */
async function readAround(change: (owner: Journal) => Promise<unknown>): Promise<number[]> {
  const disk = await written();
  const owner = await ownerOf(disk);
  const { turns } = await readersOn(disk).history.history(at);
  const versions: number[] = [];
  for await (const { version } of turns) {
    if (versions.length === 0) await change(owner);
    versions.push(version);
  }
  return versions;
}

test('a history says that its conversation was deleted during the read, even if the key is used again', async () => {
  for (const change of [(owner: Journal) => owner.delete(at, { force: true }), createAgain]) {
    expect(await rejectionOf(readAround(change))).toMatchObject({
      code: 'E_INSTANCE_UNKNOWN',
      message: 'The conversation "default" of coder was deleted while it was read.',
    });
  }
});

test('a history is empty if its conversation is deleted before the first turn is read', async () => {
  const disk = await written();
  const deleting = once('read', '/events.000002.jsonl', async () => (await ownerOf(disk)).delete(at, { force: true }));
  const { turns } = await readersOn(disk, deleting).history.history(at);
  expect(await Array.fromAsync(turns)).toEqual([]);
});

test('a history says that its next turns were deleted during the read, because the log was full', async () => {
  expect(await rejectionOf(readAround(goOn))).toMatchObject({
    code: 'E_HISTORY_RANGE',
    message: 'The next turn of the conversation "default" of coder was deleted while it was read.',
  });
});
