import { GoondanError } from '@goondan/types';
import { systemClock } from '../../ports/clock.ts';
import { codedBundleFs } from '../../ports/coded-fs.ts';
import { systemBundleFs } from '../../ports/bundle-fs.ts';
import { systemFlock } from '../../ports/flock.ts';
import { randomIds } from '../../ports/ids.ts';
import { changesetPaths, contentsIn } from '../layout/changeset-paths.ts';
import { followLinks } from '../layout/follow-links.ts';
import { makeFolders } from '../layout/make-folders.ts';
import { shortHash } from '../layout/path-segment.ts';
import { isCorrupt } from '../lines/corrupt-store.ts';
import { applyChangeset } from './apply-changeset.ts';
import { BundleTree } from './bundle-tree.ts';
import type { ChangesetRecord } from './changeset-record.ts';
import { changesetLimits, type ChangesetStore } from './changeset-store.ts';
import type { ChangesetOwner, Changesets, ChangesetsPlace } from './changesets.ts';
import { compareFiles, readEdited, readEdits, writeEdit } from './edit-changeset.ts';
import { finishChangesets, isUnfinished, withNote } from './finish-changesets.ts';
import { isBusy, systemLock } from './lock-bundle.ts';
import { isExpired, readRecord, readRecords, writeRecord, writeRecordIn } from './record-file.ts';
import { deleteChangeset, draftName, sweepChangesets } from './sweep-changesets.ts';
import { makeTrialFolder } from './trial-folder.ts';
import { undoChangeset } from './undo-changeset.ts';

/** Returns the changesets of a bundle. Touches no file until a method is called. */
export function openChangesets(place: ChangesetsPlace): Changesets {
  return new StoredChangesets(storeOf(place));
}

function storeOf(place: ChangesetsPlace): ChangesetStore {
  const { stateRoot, clock = systemClock, ids = randomIds, flock = systemFlock, warn = () => undefined } = place;
  const real = (folder: string) => (place.fs === undefined ? followLinks(folder) : folder);
  const bundleFolder = real(place.bundleFolder);
  const fs = codedBundleFs(place.fs ?? systemBundleFs);
  return {
    fs,
    clock,
    ids,
    stateRoot,
    bundleFolder,
    paths: changesetPaths(stateRoot, bundleFolder),
    tree: new BundleTree(fs, bundleFolder, real(stateRoot)),
    takeLock: place.takeLock ?? systemLock(flock === false ? undefined : flock, clock),
    warn,
  };
}

class StoredChangesets implements Changesets {
  /** The last operation by changeset: operations on one changeset run one after the other. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(private readonly store: ChangesetStore) {}

  get bundleFolder(): string {
    return this.store.bundleFolder;
  }

  open: Changesets['open'] = (owner, onDeleted) =>
    this.#inOrder('open', async () => {
      await this.#makeRoom(owner, onDeleted);
      const { store } = this;
      await makeFolders(store.fs, store.stateRoot, store.paths.folder);
      const now = store.clock.now();
      const record: ChangesetRecord = {
        id: await this.#newId(),
        bundleFolder: store.bundleFolder,
        swarm: owner.swarm,
        agent: owner.agent,
        instanceKey: owner.instanceKey,
        openedAt: now.toISOString(),
        expiresAt: new Date(now.getTime() + changesetLimits.openForMs).toISOString(),
        state: 'open',
        edits: [],
      };
      const draft = store.paths.changeset(draftName(record.id, now));
      await makeFolders(store.fs, draft, contentsIn(draft));
      await writeRecordIn(store, draft, record);
      await store.fs.rename(draft, store.paths.changeset(record.id));
      await store.fs.syncFolder(store.paths.folder);
      return record;
    });

  async find(id: string): Promise<ChangesetRecord | undefined> {
    const record = await readRecord(this.store, id);
    return record === undefined || isExpired(record, this.store.clock.now()) ? undefined : record;
  }

  async get(id: string, owner?: ChangesetOwner): Promise<ChangesetRecord> {
    const record = await this.find(id);
    if (record === undefined || (owner !== undefined && !belongsTo(record, owner))) {
      throw new GoondanError(
        'E_CHANGESET_UNKNOWN',
        `There is no changeset ${JSON.stringify(id.slice(0, LONGEST_ID))}.`,
        // Only an agent asks for one of its own.
        owner === undefined ? {} : { suggestion: 'Open a new changeset with `bundle__open`.' },
      );
    }
    return record;
  }

  async list(): Promise<readonly ChangesetRecord[]> {
    const now = this.store.clock.now();
    return (await readRecords(this.store)).filter((record) => !isExpired(record, now));
  }

  files(): Promise<readonly string[]> {
    return this.store.tree.listFiles();
  }

  read(id: string, path: string): Promise<string | null> {
    return this.#inOrder(id, () =>
      this.#readFiles(id, async (store) => readEdited(store, await this.#getOpen(id), path)),
    );
  }

  write(id: string, path: string, content: string | null): Promise<void> {
    return this.#inOrder(id, async () => writeEdit(this.store, await this.#getOpen(id), path, content));
  }

  edits: Changesets['edits'] = (id) => this.#inOrder(id, () => this.#readFiles(id, readEdits));

  conflicts: Changesets['conflicts'] = async (edits) => {
    const conflicts: string[] = [];
    for (const { path, before } of edits) {
      const { digest } = await this.store.tree.present(path);
      if (digest !== before) conflicts.push(path);
    }
    return conflicts;
  };

  compare: Changesets['compare'] = (id) => this.#inOrder(id, () => this.#readFiles(id, compareFiles));

  apply: Changesets['apply'] = (id, edits, commit, whileApplied) =>
    this.#inOrder(id, () =>
      this.#underLock(() => applyChangeset(this.store, () => this.get(id), { edits, commit, whileApplied })),
    );

  undo: Changesets['undo'] = (id, by, whileUndone) =>
    this.#inOrder(id, () => this.#underLock(() => undoChangeset(this.store, () => this.get(id), by, whileUndone)));

  note: Changesets['note'] = (id, text) =>
    this.#inOrder(id, async () => {
      const record = await this.get(id);
      if (record.state !== 'open' || record.notes?.at(-1)?.includes(text) === true) return;
      await writeRecord(this.store, withNote(record, text));
    });

  discard: Changesets['discard'] = async (id) => {
    const { state, ...record } = await this.#deleteIfOpen(id);
    if (state === 'open') return { ...record, state };
    throw new GoondanError('E_CHANGESET_STATE', `Changeset ${id} is ${state}. Only an open one can be discarded.`);
  };

  recover: Changesets['recover'] = async ({ waitMs } = {}) => {
    // Most commands find nothing to do. They must not wait for a lock, nor write to the state root.
    if (!(await readRecords(this.store)).some(isUnfinished)) return [];
    return this.#underLock(() => finishChangesets(this.store), waitMs);
  };

  async sweep(): Promise<void> {
    if ((await this.store.fs.list(this.store.paths.folder)) === undefined) return;
    try {
      await this.#underLock(() => sweepChangesets(this.store), 0);
    } catch (error) {
      // A process that has the lock is at work; the next sweep comes.
      if (!isBusy(error)) throw error;
    }
  }

  makeTrialFolder: Changesets['makeTrialFolder'] = () => makeTrialFolder(this.store);

  /** Reads the files of a changeset. If another process changes it meanwhile, they are read again. */
  async #readFiles<Value>(
    id: string,
    read: (store: ChangesetStore, record: ChangesetRecord) => Promise<Value>,
  ): Promise<Value> {
    for (let record = await this.get(id); ;) {
      try {
        return await read(this.store, record);
      } catch (error) {
        if (!isCorrupt(error)) throw error;
        const now = await this.get(id);
        if (JSON.stringify(now) === JSON.stringify(record)) throw error;
        record = now;
      }
    }
  }

  async #getOpen(id: string): Promise<ChangesetRecord> {
    const record = await this.get(id);
    if (record.state === 'open') return record;
    throw new GoondanError('E_CHANGESET_STATE', `Changeset ${id} is ${record.state}, no longer open.`, {
      suggestion: 'Open a new changeset with `bundle__open`.',
    });
  }

  /** Deletes the oldest open changesets of the conversation, until there is room for another one. */
  async #makeRoom(owner: ChangesetOwner, onDeleted: (record: ChangesetRecord) => void = () => undefined) {
    const { openInBundle, openInConversation } = changesetLimits;
    const open = (await this.list()).filter(({ state }) => state === 'open');
    const own = open.filter((record) => belongsTo(record, owner));
    const surplus = Math.max(open.length - openInBundle, own.length - openInConversation) + 1;
    if (surplus > own.length) {
      throw new GoondanError('E_CHANGESET_LIMIT', `The bundle has ${open.length} open changesets already.`, {
        suggestion:
          'A person can delete one with `gdn changes discard ID`; `gdn changes list` has the ids. Each one expires a day after it was opened.',
      });
    }
    for (const { id } of own.toReversed().slice(0, Math.max(surplus, 0))) {
      const record = await this.#deleteIfOpen(id);
      // A changeset that was committed meanwhile leaves its room, too.
      if (record.state === 'open') onDeleted(record);
    }
  }

  /** Returns the last record of the changeset, which is deleted if it was open. */
  #deleteIfOpen(id: string): Promise<ChangesetRecord> {
    return this.#inOrder(id, () =>
      this.#underLock(async () => {
        const record = await this.get(id);
        if (record.state === 'open') await deleteChangeset(this.store, id);
        return record;
      }),
    );
  }

  async #newId(): Promise<string> {
    for (;;) {
      const id = shortHash(this.store.ids.next('changeset')).slice(0, ID_LENGTH);
      if ((await this.store.fs.stat(this.store.paths.changeset(id))) === undefined) return id;
    }
  }

  async #underLock<Value>(action: () => Promise<Value>, waitMs: number = changesetLimits.lockWaitMs): Promise<Value> {
    const { fs, stateRoot, paths, takeLock } = this.store;
    await makeFolders(fs, stateRoot, paths.folder);
    const lock = await takeLock(paths.lock, waitMs);
    try {
      return await action();
    } finally {
      lock.release();
    }
  }

  async #inOrder<Value>(key: string, action: () => Promise<Value>): Promise<Value> {
    const done = (this.#last.get(key) ?? Promise.resolve()).then(action);
    const settled = done.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(key, settled);
    try {
      return await done;
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    }
  }
}

const LONGEST_ID = 40;
const ID_LENGTH = 8;

function belongsTo(record: ChangesetRecord, { swarm, agent, instanceKey }: ChangesetOwner): boolean {
  return record.swarm === swarm && record.agent === agent && record.instanceKey === instanceKey;
}
