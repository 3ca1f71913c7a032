/**
 * Changes of one simulated file, and the bytes that remain of unsynced changes after a crash.
 *
 * Appended bytes reach the device in order. Writes into room reach it by blocks, in any order, and a change of the size
 * reaches it apart from the bytes.
 */
import type { Random } from './seeded-random.ts';

export type FileChange =
  | { readonly type: 'append'; readonly bytes: Uint8Array }
  | { readonly type: 'write'; readonly at: number; readonly bytes: Uint8Array; readonly isLost?: true }
  | { readonly type: 'extend'; readonly size: number }
  | { readonly type: 'truncate'; readonly size: number };

/** The bytes of a file: those on the device, and the changes since then, oldest first. */
export interface UnsyncedFile {
  readonly durable: Uint8Array;
  readonly changes: readonly FileChange[];
}

export const BLOCK = 512;

export function changed(bytes: Uint8Array, change: FileChange): Uint8Array {
  if (change.type === 'truncate') return bytes.subarray(0, change.size);
  if (change.type === 'extend') return joined(bytes, bytes.length, new Uint8Array(change.size - bytes.length));
  return joined(bytes, change.type === 'append' ? bytes.length : change.at, change.bytes);
}

function joined(bytes: Uint8Array, at: number, added: Uint8Array): Uint8Array {
  const result = new Uint8Array(Math.max(bytes.length, at + added.length));
  result.set(bytes);
  result.set(added, at);
  return result;
}

/** Returns a part of the change that a killed process was making on a file of this size. */
export function tornByKill(change: FileChange, size: number, random: Random): FileChange {
  if (change.type === 'truncate') return change;
  if (change.type === 'extend') return { ...change, size: size + random.below(change.size - size + 1) };
  return { ...change, bytes: change.bytes.subarray(0, random.below(change.bytes.length + 1)) };
}

/** Makes all changes up to and including `last` durable, except lost writes; later changes stay unsynced. */
export function synced({ durable, changes }: UnsyncedFile, last: FileChange | undefined): UnsyncedFile {
  const count = last === undefined ? 0 : changes.indexOf(last) + 1;
  let bytes = durable;
  let lost: readonly FileChange[] = [];
  for (const change of changes.slice(0, count)) {
    if (change.type === 'write' && change.isLost) {
      lost = [...lost, change];
      continue;
    }
    bytes = changed(bytes, change);
    if (change.type === 'truncate') lost = lost.flatMap((each) => outside(each, change.size, Infinity));
    if (change.type === 'write')
      lost = lost.flatMap((each) => outside(each, change.at, change.at + change.bytes.length));
  }
  return { durable: bytes, changes: [...lost, ...changes.slice(count)] };
}

/**
 * Makes a sync fail as on a real disk: the system shows the unsynced bytes, but counts them as stored, so that a later
 * sync does not store them. They are stored only when they are written again.
 */
export function failedToSync({ durable, changes }: UnsyncedFile): UnsyncedFile {
  return {
    durable,
    changes: changes.map((change) => (change.type === 'write' ? { ...change, isLost: true } : change)),
  };
}

/** Makes the bytes of a completed `writeThrough` durable, as far as they are in room that was synced. */
export function writtenThrough({ durable, changes }: UnsyncedFile, done: FileChange): UnsyncedFile {
  if (done.type !== 'write') return { durable, changes };
  const { at, bytes } = done;
  const room = Math.min(
    durable.length,
    ...changes.map((change) => (change.type === 'truncate' ? change.size : Infinity)),
  );
  const end = Math.max(at, Math.min(room, at + bytes.length));
  const later = changes.slice(changes.indexOf(done) + 1);
  const earlier = changes.slice(0, changes.indexOf(done) + 1);
  return {
    durable: end === at ? durable : joined(durable, at, bytes.subarray(0, end - at)),
    changes: [...earlier.flatMap((change) => outside(change, at, end)), ...later],
  };
}

/** Returns the parts of a write that are not in this range. Other changes are returned as they are. */
function outside(change: FileChange, from: number, to: number): FileChange[] {
  if (change.type !== 'write') return [change];
  const { at, bytes } = change;
  const before = bytes.subarray(0, Math.max(0, from - at));
  const rest = Math.max(0, to - at);
  const after = bytes.subarray(rest);
  const parts =
    to <= at || from >= at + bytes.length
      ? [{ at, bytes }]
      : [
          { at, bytes: before },
          { at: at + rest, bytes: after },
        ];
  return parts.filter((part) => part.bytes.length > 0).map((part) => ({ type: 'write', ...part }));
}

/** Returns bytes that a power loss may leave. */
export function survivingBytes(file: UnsyncedFile, random: Random): Uint8Array {
  const isAppended = file.changes.every(({ type }) => type === 'append' || type === 'truncate');
  return isAppended ? survivingAppends(file, random) : survivingBlocks(file, random);
}

function survivingAppends({ durable, changes }: UnsyncedFile, random: Random): Uint8Array {
  const kept = random.below(changes.length + 1);
  let bytes = durable;
  for (const change of changes.slice(0, kept)) bytes = changed(bytes, change);
  const torn = changes[kept];
  if (torn?.type !== 'append' || torn.bytes.length === 0 || random.chance(0.3)) return bytes;
  if (random.chance(0.7))
    return changed(bytes, { ...torn, bytes: torn.bytes.subarray(0, random.below(torn.bytes.length)) });
  const holed = new Uint8Array(torn.bytes);
  const from = random.below(holed.length);
  holed.fill(0, from, from + 1 + random.below(holed.length - from));
  return changed(bytes, { ...torn, bytes: holed });
}

/** Keeps all, none or some of the unsynced blocks. The size is that after the first few changes of the size. */
function survivingBlocks({ durable, changes }: UnsyncedFile, random: Random): Uint8Array {
  const { sizes, versions } = versionsOf(durable, changes);
  const kept = random.pick(['none', 'some', 'some', 'most', 'all'] as const);
  if (kept === 'none') return durable;
  const size = kept === 'all' ? sizes.at(-1) : random.pick(sizes);
  const survivor = new Uint8Array(size ?? durable.length);
  survivor.set(durable.subarray(0, survivor.length));
  for (const [block, choices] of versions) {
    const isNewest = kept === 'all' || (kept === 'most' && random.chance(0.8));
    const bytes = isNewest ? choices.at(-1) : random.pick(choices);
    const start = block * BLOCK;
    if (bytes && start < survivor.length) survivor.set(bytes.subarray(0, survivor.length - start), start);
  }
  return survivor;
}

/** Returns the sizes that the file had, and for each block with unsynced bytes its possible contents, oldest first. */
function versionsOf(durable: Uint8Array, changes: readonly FileChange[]) {
  const sizes = [durable.length];
  const versions = new Map<number, Uint8Array[]>();
  let live = durable;
  for (const change of changes) {
    const next = changed(live, change);
    if (next.length !== live.length) sizes.push(next.length);
    const [from, to] = touched(change, live.length);
    for (let block = Math.floor(from / BLOCK); block * BLOCK < to; block += 1) {
      const start = block * BLOCK;
      const choices = versions.get(block) ?? [blockAt(durable, start)];
      const isWhole = change.type === 'write' && from <= start && start + BLOCK <= to;
      // A new block of the device has zeros. A block that gets the bytes it has keeps them in any case.
      if (isWhole && !isSame(blockAt(durable, start), blockAt(next, start))) choices.push(new Uint8Array(BLOCK));
      versions.set(block, [...choices, blockAt(next, start)]);
    }
    live = next;
  }
  return { sizes, versions };
}

/** Returns the range of bytes that a change gives new values. The zeros of an `extend` are there already. */
function touched(change: FileChange, size: number): readonly [from: number, to: number] {
  if (change.type === 'extend') return [size, size];
  if (change.type === 'truncate') return [change.size, size];
  const at = change.type === 'append' ? size : change.at;
  return [at, at + change.bytes.length];
}

function blockAt(bytes: Uint8Array, start: number): Uint8Array {
  const block = new Uint8Array(BLOCK);
  block.set(bytes.subarray(start, start + BLOCK));
  return block;
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
