/**
 * Stored bytes as files of a workspace; `workspace/blobs/blob-paths.ts` lists them.
 *
 * No lock is needed, although agent processes and the orchestrator write at the same time:
 * 1. A use is durable before the bytes are looked for or written.
 * 2. Bytes are moved away before they are removed, and the uses are read again in between. So a use that came meanwhile is
 *    found, and the bytes are moved back. Only the owner of the workspace removes bytes, one removal after the other: two
 *    at once could move bytes that came back, and remove them.
 * 3. A sweep does not trust the uses alone, because they may be lost: it removes no bytes that a conversation or the inbox
 *    names. Nothing is removed behind a symbolic link, or under a name that is not ours, and no folder in the place of a file.
 */
import type { AgentAddress } from '@goondan/types';
import { sha256 } from '../../json/sha256.ts';
import { codedFs } from '../../ports/coded-fs.ts';
import { type Fs, systemFs } from '../../ports/fs.ts';
import { newUuid } from '../../ports/ids.ts';
import {
  blobPaths,
  digestOfBytes,
  digestOfUse,
  isBytes,
  isDraftOfBytes,
  isOwner,
  isUse,
  lookForBytes,
  NEW,
  REMOVED,
  UPLOAD,
} from '../../workspace/blobs/blob-paths.ts';
import { findLostFiles, readStoredDigest } from '../../workspace/blobs/find-lost-files.ts';
import { findNamers } from '../../workspace/blobs/find-namers.ts';
import { readUses } from '../../workspace/blobs/read-uses.ts';
import { instanceFolderName, type JournalLocation, workspaceFolder } from '../../workspace/layout/instance-paths.ts';
import { makeFoldersBelow } from '../../workspace/layout/make-folders.ts';
import type { BlobOwner, Blobs } from '../blobs.ts';
import { damagedFile, unknownFile } from '../unknown-file.ts';

export interface FileBlobs extends Blobs {
  /** Lists the digests that a conversation uses. */
  usedBy(owner: AgentAddress): Promise<readonly string[]>;
}

/** Opens the stored bytes of a workspace. Nothing is written before the first `put` or `use`. */
export function fileBlobs(location: JournalLocation, given: Fs = systemFs): FileBlobs {
  const fs = codedFs(given);
  const workspace = workspaceFolder(location.stateRoot, location.workspaceId);
  const { root, data, uses } = blobPaths(workspace);

  /** Notes a use, durably. */
  function note(owner: BlobOwner, digests: readonly string[]): Promise<void> {
    return noteFor(nameOf(owner), digests);
  }

  async function noteFor(owner: string, digests: readonly string[]): Promise<void> {
    const folder = `${uses}/${owner}`;
    if ((await fs.stat(folder)) === undefined) await makeFoldersBelow(fs, workspace, folder);
    for (const digest of digests) {
      if ((await fs.stat(`${folder}/${digest}`)) !== undefined) continue;
      await fs.createNew(`${folder}/${digest}${NEW}`, new Uint8Array());
    }
    await fs.syncFolder(folder);
    // The process that made the folder may have died before its sync.
    await fs.syncFolder(uses);
  }

  /** Returns true if these bytes are stored undamaged. A damaged file is written again, so that one upload repairs it. */
  async function isStored(digest: string, bytes: Uint8Array): Promise<boolean> {
    const path = `${data}/${digest}`;
    if ((await fs.stat(path))?.size !== bytes.length) return false;
    const stored = await fs.read(path).catch(() => undefined);
    return stored !== undefined && Buffer.from(stored.buffer, stored.byteOffset, stored.length).equals(bytes);
  }

  async function write(digest: string, bytes: Uint8Array): Promise<void> {
    if ((await fs.stat(data)) === undefined) await makeFoldersBelow(fs, workspace, data);
    if (!(await isStored(digest, bytes))) {
      const draft = `${data}/.${newUuid()}`;
      const file = await fs.openFile(draft);
      try {
        await file.append(bytes);
        await file.sync();
      } catch (error) {
        await fs.remove(draft).catch(() => undefined);
        throw error;
      } finally {
        await file.close();
      }
      await fs.rename(draft, `${data}/${digest}`);
    }
    await fs.syncFolder(data);
  }

  /** Returns the digests that an owner uses. */
  async function listUses(owner: string): Promise<readonly string[]> {
    return digestsIn((await fs.list(`${uses}/${owner}`)) ?? []);
  }

  async function listOwners(): Promise<readonly string[]> {
    return ((await fs.list(uses)) ?? []).filter(isOwner);
  }

  /** Returns the digests that somebody uses. */
  async function readUsed(): Promise<ReadonlySet<string>> {
    const used = new Set<string>();
    for (const owner of await listOwners()) {
      for (const digest of await listUses(owner)) used.add(digest);
    }
    return used;
  }

  /**
   * Moves bytes back whose removal has begun. Does nothing when another process has moved them, or when they were stored
   * again: those that were removed may be damaged.
   */
  async function moveBack(digest: string): Promise<void> {
    const path = `${data}/${digest}`;
    if ((await fs.stat(path)) !== undefined) return;
    await fs.rename(`${path}${REMOVED}`, path).catch(async (error: unknown) => {
      if ((await fs.stat(`${path}${REMOVED}`)) !== undefined) throw error;
    });
  }

  let lastRemoval: Promise<unknown> = Promise.resolve();
  /** Runs a removal when the ones before it have ended (invariant 2). */
  function oneByOne(remove: () => Promise<void>): Promise<void> {
    const removal = lastRemoval.then(remove);
    lastRemoval = removal.catch(() => undefined);
    return removal;
  }

  /** Returns true if a folder is inside the workspace. One behind a link may have files of others. */
  async function isInside(folder: string): Promise<boolean> {
    return !(await fs.isLink(root)) && !(await fs.isLink(folder));
  }

  /** Returns true for a folder in the place of a file, which is not ours. */
  async function isFolder(path: string): Promise<boolean> {
    return fs.list(path).then(
      (names) => names !== undefined,
      () => false,
    );
  }

  async function removeFile(path: string): Promise<void> {
    if (!(await isFolder(path))) await fs.remove(path);
  }

  /** Removes the bytes that nobody uses (invariant 2). */
  async function removeUnused(digests: readonly string[]): Promise<void> {
    if (!(await isInside(data))) return;
    const before = await readUsed();
    const unused = digests.filter((digest) => !before.has(digest));
    if (unused.length === 0) return;
    for (const digest of unused) {
      const path = `${data}/${digest}`;
      if ((await fs.stat(path)) !== undefined && !(await isFolder(path))) await fs.rename(path, `${path}${REMOVED}`);
    }
    await finishRemoval();
  }

  async function finishRemoval(): Promise<void> {
    const names = ((await fs.list(data)) ?? []).filter((name) => isBytes(name) && name.endsWith(REMOVED));
    if (names.length === 0) return;
    const used = await readUsed();
    const back = names.map(digestOfBytes).filter((digest) => used.has(digest));
    for (const digest of back) await moveBack(digest);
    // Before anything is removed: bytes that were stored again may not be durable yet.
    if (back.length > 0) await fs.syncFolder(data);
    for (const name of names) await removeFile(`${data}/${name}`);
  }

  async function releaseName(name: string): Promise<void> {
    const names = await fs.list(`${uses}/${name}`);
    if (names === undefined) return;
    await fs.removeFolder(`${uses}/${name}`);
    await fs.syncFolder(uses);
    await removeUnused(digestsIn(names));
  }

  /** Keeps the uses of one owner that a file of the store names. */
  async function checkUses(owner: string): Promise<void> {
    const folder = `${uses}/${owner}`;
    if (await fs.isLink(folder)) return;
    const { named, left, drafts } = await readUses(fs, workspace, owner);
    for (const name of [...drafts, ...left]) await removeFile(`${folder}/${name}`);
    for (const name of named) {
      if (name.endsWith(NEW)) await fs.rename(`${folder}/${name}`, `${folder}/${digestOfUse(name)}`);
    }
    if ((await fs.list(folder))?.length === 0) await fs.removeFolder(folder);
  }

  /** Notes the uses that were lost: those of bytes that no use names, and a file of the store does. */
  async function noteLostUses(digests: readonly string[]): Promise<void> {
    const used = await readUsed();
    const unused = digests.filter((digest) => !used.has(digest));
    if (unused.length === 0) return;
    for (const [owner, named] of await findNamers(fs, workspace, unused)) await noteFor(owner, named);
  }

  async function sweep(): Promise<void> {
    if ((await fs.stat(root)) === undefined) return;
    if (await isInside(uses)) for (const owner of await listOwners()) await checkUses(owner);
    if (!(await isInside(data))) return;
    const names = (await fs.list(data)) ?? [];
    for (const name of names.filter(isDraftOfBytes)) await removeFile(`${data}/${name}`);
    const digests = [...new Set(names.filter(isBytes).map(digestOfBytes))];
    await noteLostUses(digests);
    await removeUnused(digests);
    await finishRemoval();
  }

  return {
    async put(owner, bytes) {
      const digest = sha256(bytes);
      await note(owner, [digest]);
      await write(digest, bytes);
      return digest;
    },
    async use(owner, digests) {
      if (digests.length === 0) return;
      await note(owner, digests);
      for (const digest of digests) {
        const isThere = async () => (await fs.stat(`${data}/${digest}`)) !== undefined;
        if (await isThere()) continue;
        await moveBack(digest);
        if (!(await isThere())) throw unknownFile(digest);
      }
      await fs.syncFolder(data);
    },
    async named(owner, digests) {
      const folder = `${uses}/${nameOf(owner)}`;
      for (const digest of digests) {
        if ((await fs.stat(`${folder}/${digest}${NEW}`)) === undefined) continue;
        await fs.rename(`${folder}/${digest}${NEW}`, `${folder}/${digest}`);
      }
    },
    async get(digest) {
      const bytes = await lookForBytes(`${data}/${digest}`, (path) => fs.read(path));
      if (bytes !== undefined && sha256(bytes) !== digest) throw damagedFile(digest, `${data}/${digest}`);
      return bytes;
    },
    size: async (digest) => (await lookForBytes(`${data}/${digest}`, (path) => fs.stat(path)))?.size,
    findLost: () =>
      findLostFiles({
        ...{ fs, workspace, isThorough: true },
        readDigest: (digest) => readStoredDigest(fs, workspace, digest),
      }),
    usedBy: (owner) => listUses(nameOf(owner)),
    release: (owner) => oneByOne(() => releaseName(nameOf(owner))),
    async share(from, to) {
      const digests = await listUses(nameOf(from));
      if (digests.length > 0) await note(to, digests);
    },
    sweep: () => oneByOne(sweep),
  };
}

/** Returns the name of an owner's folder: for a conversation, that of its own folder. */
function nameOf(owner: BlobOwner): string {
  return 'upload' in owner ? `${UPLOAD}${owner.upload}` : instanceFolderName(owner.agentName, owner.instanceKey);
}

function digestsIn(names: readonly string[]): readonly string[] {
  return names.filter(isUse).map(digestOfUse);
}
