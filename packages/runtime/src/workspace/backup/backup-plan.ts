/**
 * Lists what a backup copies from a workspace, and in which order. Nothing else in this room names a file of the store.
 *
 * 1. Accepted input and questions come before the conversations. Then an input that is handled meanwhile is in the copy of
 *    its conversation, and in the copy of the inbox too, where recovery skips it. In the other order, the inbox might
 *    have dropped an input that the copy of its conversation does not have yet. The same holds for an approval that a turn
 *    uses meanwhile.
 * 2. The files of a conversation that belong together are copied together, and checked (`copy-instance.ts`).
 * 3. Everything else is for people or for tools, is not synced by its writers, and is copied as it is found.
 *
 * A file that this list does not know is copied in step 3.
 */

/** The folder and the file of a workspace that are copied first. */
export const firstFolder = 'inbox';
export const firstFile = 'approvals.jsonl';

export const conversations = 'instances';

/** The folder with the bytes of images and files, which are checked when everything is copied. */
export const bytesFolder = 'blobs/data';

/** The log of a conversation that its owner writes. */
export const logPath = 'messages/events.jsonl';

/**
 * Names in the folder of the workspace that are not copied: locks, the socket, the owner and its folder, which belong to a running process; the
 * list of swarms, which has paths of this machine; the list of instances, which is derived from them.
 */
const leftOut: readonly RegExp[] = [
  /^workspace\.lock$/,
  /^control\.sock/,
  /^run$/,
  /^orchestrator\.json(\.\d+)?$/,
  /^swarm\.json$/,
  /^instances\.jsonl$/,
];

/** Returns true if a name in the folder of the workspace belongs into a backup. Drafts and hidden names do not. */
export function isKept(name: string): boolean {
  return !name.startsWith('.') && !name.endsWith('.next') && !leftOut.some((each) => each.test(name));
}

/** Returns true if a name in the folder `instances` is a conversation, not the rest of one or a draft. */
export function isConversation(name: string): boolean {
  return !name.startsWith('.');
}

/**
 * The way to copy a file of a conversation:
 *
 * - `whole`: read at once, because its owner replaces it.
 * - `log`: read up to its last line, because its owner writes into its room.
 * - `closed`: never changes any more.
 * - `lock`: written without its owner.
 * - `loose`: as it is found.
 * - `none`: not copied.
 */
export type CopyKind = 'whole' | 'log' | 'closed' | 'lock' | 'loose' | 'none';

/** The files of a conversation, in the order of copying. `folder`: the folder in that of the conversation. */
const files: readonly { readonly folder: string; readonly name: RegExp; readonly kind: CopyKind }[] = [
  { folder: 'messages', name: /^events\.\d+\.jsonl$/, kind: 'closed' },
  { folder: '', name: /^metadata\.json$/, kind: 'whole' },
  { folder: 'messages', name: /^history-start\.jsonl$/, kind: 'whole' },
  { folder: 'messages', name: /^base\.jsonl(\.next)?$/, kind: 'whole' },
  { folder: 'extensions', name: /\.json(\.next)?$/, kind: 'whole' },
  { folder: 'messages', name: /^events\.jsonl$/, kind: 'log' },
  { folder: '', name: /^lock$/, kind: 'lock' },
  { folder: '', name: /^lock\.\d+$|\.next$/, kind: 'none' },
  { folder: 'messages', name: /\.next$/, kind: 'none' },
];

/** The folders of a conversation whose files belong together. */
export const coreFolders: readonly string[] = ['', 'messages', 'extensions'];

export interface PlannedFile {
  /** The path in the folder of the conversation. */
  readonly path: string;
  readonly kind: CopyKind;
}

/** Returns the files of one of these folders, with their kinds. */
export function planFiles(folder: string, names: readonly string[]): PlannedFile[] {
  return names.map((name) => ({ path: folder === '' ? name : `${folder}/${name}`, kind: kindOf(folder, name) }));
}

function kindOf(folder: string, name: string): CopyKind {
  return files[rankOf(folder, name)]?.kind ?? 'loose';
}

/** Returns the files that belong together, in the order of copying. */
export function planCore(all: readonly PlannedFile[]): PlannedFile[] {
  const core = all.filter(({ kind }) => kind === 'whole' || kind === 'log' || kind === 'closed');
  return core.toSorted((one, other) => rankOf(...split(one.path)) - rankOf(...split(other.path)) || byName(one, other));
}

function rankOf(folder: string, name: string): number {
  const rank = files.findIndex((each) => each.folder === folder && each.name.test(name));
  return rank === -1 ? files.length : rank;
}

function split(path: string): [folder: string, name: string] {
  const at = path.lastIndexOf('/');
  return at === -1 ? ['', path] : [path.slice(0, at), path.slice(at + 1)];
}

function byName(one: PlannedFile, other: PlannedFile): number {
  return one.path < other.path ? -1 : 1;
}
