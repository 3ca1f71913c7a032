/** Finds the images and files that conversations name and whose bytes are missing or damaged. */
import { Sha256 } from '../../json/sha256.ts';
import type { Fs } from '../../ports/fs.ts';
import { instancesFolder } from '../layout/instance-paths.ts';
import { blobPaths, digestOfUse, lookForBytes } from './blob-paths.ts';
import { findReferences } from './find-named.ts';
import { readUses } from './read-uses.ts';

/** Bytes that a conversation names, and that cannot be read. */
export interface LostFile {
  /** The conversation, as its folder is called: `<agent>~<key>`. */
  readonly conversation: string;
  readonly digest: string;
  readonly problem: 'missing' | 'damaged';
  /** The file or the table where the bytes belong. */
  readonly place: string;
}

export interface LostFilePlace {
  readonly fs: Pick<Fs, 'list' | 'read' | 'stat'>;
  readonly workspace: string;
  /** Returns the SHA-256 of stored bytes; `undefined` when there are none. */
  readonly readDigest: (digest: string) => Promise<string | undefined>;
  /** The workspace that was copied, if `workspace` is a copy: conversations that it lost meanwhile do not count. */
  readonly original?: string;
  /** If true, the logs are searched also in a workspace without a folder of files. Most of them never had a file. */
  readonly isThorough?: boolean;
}

/**
 * Reads all stored bytes that a conversation names, each once. The lists of uses tell their names, so the cost does not
 * grow with the logs; only if the folder of these lists is gone, the logs are searched. **Errors** — those of reading.
 */
export async function findLostFiles(where: LostFilePlace): Promise<LostFile[]> {
  const { fs, workspace, readDigest, original = workspace } = where;
  const known = new Map<string, LostFile['problem'] | undefined>();
  const judge = async (digest: string) => {
    if (!known.has(digest)) {
      const found = await readDigest(digest);
      known.set(digest, found === undefined ? 'missing' : found === digest ? undefined : 'damaged');
    }
    return known.get(digest);
  };
  const listNamed = (await isListGone(where)) ? listInFiles : listUses;
  const lost: LostFile[] = [];
  for (const conversation of await listConversations(fs, workspace)) {
    const own: LostFile[] = [];
    for (const digest of await listNamed(fs, workspace, conversation)) {
      const problem = await judge(digest);
      const place = `${blobPaths(original).data}/${digest}`;
      if (problem !== undefined) own.push({ conversation, digest, problem, place });
    }
    // Its bytes went with the conversation, if that was deleted meanwhile. Another one may have its name, or its bytes.
    const still = own.length === 0 ? [] : await listNamed(fs, original, conversation);
    for (const file of own) {
      if (still.includes(file.digest) && (await readDigest(file.digest)) !== file.digest) lost.push(file);
    }
  }
  return lost;
}

/** Returns one line of text: the place, what is wrong there, and the conversation. */
export function describeLostFile({ conversation, place, problem, digest }: LostFile): string {
  const wrong = problem === 'missing' ? 'is missing' : `is damaged: its bytes do not have the SHA-256 ${digest}`;
  return `${place} ${wrong}; the conversation ${conversation} names it`;
}

/**
 * Reads the SHA-256 of the bytes in a workspace, piece by piece. Something that cannot be read, such as a folder in their
 * place, has none, and counts as damaged.
 */
export function readStoredDigest(
  fs: LostFilePlace['fs'],
  workspace: string,
  digest: string,
): Promise<string | undefined> {
  const read = async (path: string) => {
    const hash = new Sha256();
    for (let at = 0; ; at += PIECE_BYTES) {
      const piece = await fs.read(path, at, PIECE_BYTES);
      if (piece === undefined) return undefined;
      hash.append(piece);
      if (piece.length < PIECE_BYTES) return hash.digest();
    }
  };
  return lookForBytes(`${blobPaths(workspace).data}/${digest}`, (path) => read(path).catch(() => UNREADABLE));
}

const UNREADABLE = 'unreadable';

const PIECE_BYTES = 1_048_576;

/** Lists conversations with a folder, and those that only have input. */
async function listConversations(fs: LostFilePlace['fs'], workspace: string): Promise<readonly string[]> {
  const owners = ((await fs.list(blobPaths(workspace).uses)) ?? []).filter((name) => !name.startsWith('.'));
  const folders = ((await fs.list(instancesFolder(workspace))) ?? []).filter((name) => !name.startsWith('.'));
  return [...new Set([...owners, ...folders])].toSorted();
}

/** Returns true if the lists of uses are gone. The first file of a workspace makes their folder, and it stays. */
async function isListGone({
  fs,
  workspace,
  original = workspace,
  isThorough = false,
}: LostFilePlace): Promise<boolean> {
  const { root, uses } = blobPaths(original);
  if ((await fs.stat(uses)) !== undefined) return false;
  return isThorough || (await fs.stat(root)) !== undefined;
}

/** Lists the bytes that a conversation names, by its uses. */
async function listUses(fs: LostFilePlace['fs'], workspace: string, conversation: string): Promise<readonly string[]> {
  const { named } = await readUses(fs, workspace, conversation);
  return named.map(digestOfUse);
}

/** Lists the bytes that the files of a conversation name. */
async function listInFiles(
  fs: LostFilePlace['fs'],
  workspace: string,
  conversation: string,
): Promise<readonly string[]> {
  return [...(await findReferences(fs, `${instancesFolder(workspace)}/${conversation}`))];
}
