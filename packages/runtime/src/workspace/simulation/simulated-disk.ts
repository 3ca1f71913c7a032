/**
 * A simulated disk that guarantees exactly what the `Fs` port guarantees. For every file and folder it keeps the
 * durable contents and the changes since the last sync, so that a crash can keep any of these changes.
 *
 * `crash` returns the disk that the next process finds. A killed process loses no completed write, but its last write
 * may be partial. A power loss keeps the first few unsynced changes of each file; the next change may be torn at any
 * byte or replaced by a gap of zeros. Of unsynced writes into a room it keeps any blocks. It also keeps the first few
 * unsynced names of each folder, or any of them.
 */
import type { FileStat, Fs, HeldFile, OpenFile, RoomFile } from '../../ports/fs.ts';
import {
  changed,
  failedToSync,
  survivingBytes,
  synced,
  tornByKill,
  writtenThrough,
  type FileChange,
  type UnsyncedFile,
} from './file-changes.ts';
import type { Random } from './seeded-random.ts';

export type CrashMode = 'kill' | 'power';

export interface SimulatedRoom extends RoomFile {
  write(at: number, bytes: Uint8Array): Promise<void>;
  writeThrough(at: number, bytes: Uint8Array): Promise<void>;
  /** Has the effects of a sync that rejects. */
  failToSync(): void;
}

/** A change of names, each of which then points to a node or to nothing. A rename changes two names in one change. */
type NameChange = readonly { readonly name: string; readonly node: number | undefined }[];

interface FileNode extends UnsyncedFile {
  readonly type: 'file';
  readonly live: Uint8Array;
}

interface FolderNode {
  readonly type: 'folder';
  readonly durable: ReadonlyMap<string, number>;
  readonly live: ReadonlyMap<string, number>;
  readonly changes: readonly NameChange[];
}

type Node = FileNode | FolderNode;

const ROOT = 0;
const EMPTY = new Uint8Array();

export class SimulatedDisk implements Fs {
  readonly #nodes: Map<number, Node>;
  /** A cache of nodes by path. A change of names takes these names out, and all paths if a folder is concerned. */
  readonly #paths = new Map<string, number>();
  #nextNode: number;
  /** The file of the last operation, if it was a write. */
  #lastWritten: number | undefined;
  /** Called after every operation that changed something, because a crash may happen at that moment. */
  afterOperation: (() => void) | undefined;
  /**
   * Returns how many ticks the next sync takes. Other work runs during these ticks. A sync covers only changes before
   * its start.
   */
  syncTicks: () => number = () => 0;

  private constructor(nodes: Map<number, Node>, nextNode: number, lastWritten?: number) {
    this.#nodes = nodes;
    this.#nextNode = nextNode;
    this.#lastWritten = lastWritten;
  }

  static empty(): SimulatedDisk {
    return new SimulatedDisk(new Map([[ROOT, emptyFolder()]]), ROOT + 1);
  }

  /** Copies the disk. Nodes are never changed, only replaced, so a copy is cheap. */
  copy(): SimulatedDisk {
    return new SimulatedDisk(new Map(this.#nodes), this.#nextNode, this.#lastWritten);
  }

  crash(mode: CrashMode, random: Random): SimulatedDisk {
    const survivor = this.copy();
    if (mode === 'kill') survivor.#tearLastWrite(random);
    else survivor.#losePower(random);
    survivor.#lastWritten = undefined;
    return survivor;
  }

  async read(path: string, from = 0, length?: number): Promise<Uint8Array | undefined> {
    const file = this.#find(path);
    if (file === undefined) return undefined;
    return this.#file(file).live.subarray(from, length === undefined ? undefined : from + length);
  }

  async stat(path: string): Promise<FileStat | undefined> {
    const id = this.#find(path);
    if (id === undefined) return undefined;
    const node = this.#node(id);
    return { size: node.type === 'file' ? node.live.length : 0, identity: String(id), changedAt: 0 };
  }

  async isLink(): Promise<boolean> {
    return false;
  }

  async list(path: string): Promise<string[] | undefined> {
    const id = this.#find(path);
    return id === undefined ? undefined : [...this.#folder(id).live.keys()];
  }

  async makeFolder(path: string): Promise<void> {
    if (this.#find(path) !== undefined) return;
    this.#setNames(path, [{ name: nameOf(path), node: this.#add(emptyFolder()) }]);
  }

  async openFile(path: string): Promise<OpenFile> {
    const id = this.#find(path) ?? this.#createFile(path);
    return {
      append: async (bytes) => this.#change(id, { type: 'append', bytes: new Uint8Array(bytes) }),
      truncate: async (size) => this.#change(id, { type: 'truncate', size }),
      sync: () => this.#sync(id),
      close: async () => undefined,
    };
  }

  async openRoom(path: string): Promise<SimulatedRoom> {
    const id = this.#find(path) ?? this.#createFile(path);
    return {
      write: async (at, bytes) => void this.#writeInRoom(id, at, bytes),
      writeThrough: (at, bytes) => this.#writeThrough(id, at, bytes),
      extend: async (size) => {
        if (size > this.#file(id).live.length) this.#change(id, { type: 'extend', size });
      },
      truncate: async (size) => this.#change(id, { type: 'truncate', size }),
      sync: () => this.#sync(id),
      close: async () => undefined,
      failToSync: () => {
        const node = this.#file(id);
        this.#nodes.set(id, { ...node, ...failedToSync(node) });
      },
    };
  }

  async openLock(path: string): Promise<HeldFile> {
    const id = this.#find(path);
    const folder = this.#find(folderOf(path));
    if (id === undefined || folder === undefined) throw missing(path);
    // A rename stays in its folder, so the names of this folder are all names that the file can have.
    return { isReplaced: () => ![...this.#folder(folder).live.values()].includes(id), close: () => undefined };
  }

  async createNew(path: string, bytes: Uint8Array): Promise<boolean> {
    if (this.#find(path) !== undefined) return false;
    const change: FileChange = { type: 'append', bytes: new Uint8Array(bytes) };
    const node = this.#add({ type: 'file', durable: EMPTY, live: change.bytes, changes: [change] });
    this.#setNames(path, [{ name: nameOf(path), node }]);
    return true;
  }

  async rename(from: string, to: string): Promise<void> {
    const node = this.#find(from);
    if (node === undefined) throw missing(from);
    if (folderOf(from) !== folderOf(to)) throw new Error('the simulated disk renames within a folder only');
    if (this.#node(node).type === 'folder') this.#paths.clear();
    this.#setNames(to, [
      { name: nameOf(from), node: undefined },
      { name: nameOf(to), node },
    ]);
  }

  async remove(path: string): Promise<void> {
    if (this.#find(path) === undefined) return;
    this.#setNames(path, [{ name: nameOf(path), node: undefined }]);
  }

  /** Removes one name after the other, so that a crash may happen between any two removals. */
  async removeFolder(path: string): Promise<void> {
    const id = this.#find(path);
    if (id === undefined) return;
    for (const [name, node] of this.#folder(id).live) {
      const inside = `${path}/${name}`;
      await (this.#node(node).type === 'folder' ? this.removeFolder(inside) : this.remove(inside));
    }
    await this.remove(path);
    this.#paths.clear();
  }

  async syncFolder(path: string): Promise<void> {
    const id = this.#find(path);
    if (id === undefined) throw missing(path);
    await this.#sync(id);
  }

  async #sync(id: number): Promise<void> {
    const before = this.#node(id);
    const [lastBytes, lastNames] =
      before.type === 'file' ? [before.changes.at(-1), undefined] : [undefined, before.changes.at(-1)];
    for (let ticks = this.syncTicks(); ticks > 0; ticks -= 1) await Promise.resolve();
    const node = this.#node(id);
    const after = node.type === 'file' ? { ...node, ...synced(node, lastBytes) } : syncedFolder(node, lastNames);
    this.#nodes.set(id, after);
    this.#operated();
  }

  /** A crash may happen while the bytes are on their way to the device, and after that. */
  async #writeThrough(id: number, at: number, bytes: Uint8Array): Promise<void> {
    const change = this.#writeInRoom(id, at, bytes);
    for (let ticks = this.syncTicks(); ticks > 0; ticks -= 1) await Promise.resolve();
    const node = this.#file(id);
    this.#nodes.set(id, { ...node, ...writtenThrough(node, change) });
    this.#operated();
  }

  #writeInRoom(id: number, at: number, bytes: Uint8Array): FileChange {
    const { live } = this.#file(id);
    if (at + bytes.length > live.length)
      throw new Error(`wrote to ${at + bytes.length}, but the room ends at ${live.length}`);
    const change: FileChange = { type: 'write', at, bytes: new Uint8Array(bytes) };
    this.#change(id, change);
    return change;
  }

  #operated(written?: number): void {
    this.#lastWritten = written;
    this.afterOperation?.();
  }

  #change(id: number, change: FileChange): void {
    const node = this.#file(id);
    this.#nodes.set(id, { ...node, live: changed(node.live, change), changes: [...node.changes, change] });
    this.#operated(change.type === 'truncate' ? undefined : id);
  }

  #setNames(path: string, change: NameChange): void {
    const folder = folderOf(path);
    const id = this.#find(folder);
    if (id === undefined) throw missing(folder);
    const node = this.#folder(id);
    for (const { name } of change) this.#paths.delete(`${folder}/${name}`);
    this.#nodes.set(id, { ...node, live: renamed(node.live, change), changes: [...node.changes, change] });
    this.#operated();
  }

  #createFile(path: string): number {
    const id = this.#add({ type: 'file', durable: EMPTY, live: EMPTY, changes: [] });
    this.#setNames(path, [{ name: nameOf(path), node: id }]);
    return id;
  }

  #tearLastWrite(random: Random): void {
    if (this.#lastWritten === undefined || random.chance(0.5)) return;
    const node = this.#file(this.#lastWritten);
    const last = node.changes.at(-1);
    if (!last) return;
    const before = node.changes.slice(0, -1).reduce(changed, node.durable);
    const torn = tornByKill(last, before.length, random);
    const changes = [...node.changes.slice(0, -1), torn];
    this.#nodes.set(this.#lastWritten, { ...node, live: changed(before, torn), changes });
  }

  #losePower(random: Random): void {
    for (const [id, node] of this.#nodes) {
      if (node.type === 'file') {
        const live = survivingBytes(node, random);
        this.#nodes.set(id, { type: 'file', durable: live, live, changes: [] });
      } else {
        const live = survivingNames(node, random);
        this.#nodes.set(id, { type: 'folder', durable: live, live, changes: [] });
      }
    }
  }

  #add(node: Node): number {
    const id = this.#nextNode;
    this.#nextNode += 1;
    this.#nodes.set(id, node);
    return id;
  }

  #find(path: string): number | undefined {
    if (path === '' || path === '/') return ROOT;
    const known = this.#paths.get(path);
    if (known !== undefined) return known;
    const folder = this.#find(folderOf(path));
    const id = folder === undefined ? undefined : this.#folder(folder).live.get(nameOf(path));
    if (id !== undefined) this.#paths.set(path, id);
    return id;
  }

  #node(id: number): Node {
    const node = this.#nodes.get(id);
    if (!node) throw new Error(`no node ${id}`);
    return node;
  }

  #file(id: number): FileNode {
    const node = this.#node(id);
    if (node.type !== 'file') throw new Error(`node ${id} is a folder`);
    return node;
  }

  #folder(id: number): FolderNode {
    const node = this.#node(id);
    if (node.type !== 'folder') throw new Error(`node ${id} is a file`);
    return node;
  }
}

/** Makes all changes up to and including `last` durable; later changes stay unsynced. */
function syncedFolder({ durable, live, changes }: FolderNode, last: NameChange | undefined): FolderNode {
  if (changes.at(-1) === last) return { type: 'folder', durable: live, live, changes: [] };
  const count = changes.findIndex((change) => change === last) + 1;
  return {
    type: 'folder',
    durable: changes.slice(0, count).reduce(renamed, durable),
    live,
    changes: changes.slice(count),
  };
}

function survivingNames({ durable, changes }: FolderNode, random: Random): ReadonlyMap<string, number> {
  const inOrder = random.chance(0.5);
  const kept = random.below(changes.length + 1);
  let names = durable;
  for (const [index, change] of changes.entries()) {
    if (inOrder ? index < kept : random.chance(0.5)) names = renamed(names, change);
  }
  return names;
}

function renamed(names: ReadonlyMap<string, number>, change: NameChange): ReadonlyMap<string, number> {
  const next = new Map(names);
  for (const { name, node } of change) {
    if (node === undefined) next.delete(name);
    else next.set(name, node);
  }
  return next;
}

function emptyFolder(): FolderNode {
  return { type: 'folder', durable: new Map(), live: new Map(), changes: [] };
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function missing(path: string): Error {
  return Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
}
