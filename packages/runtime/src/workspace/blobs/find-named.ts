/** Finds out which stored bytes the files of a conversation and the inbox name. */
import { fileReferenceOf } from '@goondan/types';
import type { Fs } from '../../ports/fs.ts';

const PIECE_BYTES = 1_048_576;
/** The folder in which the tools of a conversation keep files. They may be large, and name nothing. */
const TOOL_FILES = 'scratch';

/** Returns the digests whose reference is in a file of these folders or of folders inside them. */
export async function findNamed(
  fs: Pick<Fs, 'list' | 'read'>,
  folders: readonly string[],
  digests: readonly string[],
): Promise<ReadonlySet<string>> {
  const missing = new Set(digests);
  const found = new Set<string>();
  // Reads the bytes once, however many digests are wanted.
  const look = (bytes: Uint8Array) => {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = buffer.indexOf(REFERENCE); at !== -1; at = buffer.indexOf(REFERENCE, at + 1)) {
      const digest = buffer.toString('latin1', at + REFERENCE.length, at + REFERENCE.length + DIGEST_LENGTH);
      if (missing.delete(digest)) found.add(digest);
    }
  };
  for (const folder of folders) await readTree(fs, folder, () => missing.size > 0, look);
  return found;
}

/** The field of an image or a file in a line of JSON. In a text, its quotes would be escaped. */
const FIELD = /"(?:image|data)":"blob:sha256-([0-9a-f]{64})"/g;

/** Returns the digests of all images and files in the files of this folder. */
export async function findReferences(fs: Pick<Fs, 'list' | 'read'>, folder: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const look = (bytes: Uint8Array) => {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    if (!buffer.includes(REFERENCE)) return;
    for (const [, digest = ''] of buffer.toString('latin1').matchAll(FIELD)) found.add(digest);
  };
  await readTree(fs, folder, () => true, look);
  return found;
}

/** Reads all files in pieces. Two pieces overlap, so that no reference is cut. */
async function readTree(
  fs: Pick<Fs, 'list' | 'read'>,
  path: string,
  goesOn: () => boolean,
  look: (bytes: Uint8Array) => void,
): Promise<void> {
  const names = await listFolder(fs, path);
  if (names !== undefined) {
    for (const name of names) {
      if (goesOn() && name !== TOOL_FILES) await readTree(fs, `${path}/${name}`, goesOn, look);
    }
    return;
  }
  for (let from = 0; goesOn(); from += PIECE_BYTES) {
    const piece = await fs.read(path, from, PIECE_BYTES + OVERLAP);
    if (piece === undefined || piece.length === 0) return;
    look(piece);
    if (piece.length < PIECE_BYTES) return;
  }
}

const DIGEST_LENGTH = 64;
/** The bytes of the longest field. */
const OVERLAP = `"image":"${fileReferenceOf('0'.repeat(DIGEST_LENGTH))}"`.length;
const REFERENCE = fileReferenceOf('');

/** Lists a folder; `undefined` when the path is a file or does not exist. */
async function listFolder(fs: Pick<Fs, 'list'>, path: string): Promise<readonly string[] | undefined> {
  try {
    return await fs.list(path);
  } catch {
    // A file cannot be listed. A folder that cannot be read fails again when it is read as a file.
    return undefined;
  }
}
