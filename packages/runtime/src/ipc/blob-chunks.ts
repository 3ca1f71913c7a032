/**
 * Carries the bytes of files over a channel in pieces, so that a frame stays short and other frames get through between
 * two pieces.
 */
import { GoondanError } from '@goondan/types';
import { tooLarge } from '../files/check-content.ts';

/** The bytes of one piece. As base64 they fit into a frame. */
export const PIECE_BYTES = 512 * 1_024;
/** The most uploads of one process at a time. */
const MOST_UPLOADS = 16;

/** A piece of an upload. `upload`: the id of the upload. */
export interface UploadPiece {
  readonly upload: string;
  readonly data: string;
  /** The bytes of the whole file. */
  readonly size: number;
  readonly isLast: boolean;
}

/** Sends bytes piece by piece. Resolves with the answer to the last piece. */
export async function sendInPieces<Answer>(
  bytes: Uint8Array,
  upload: string,
  send: (piece: UploadPiece) => Promise<Answer>,
): Promise<Answer> {
  for (let from = 0; ; from += PIECE_BYTES) {
    const piece = Buffer.from(bytes.subarray(from, from + PIECE_BYTES)).toString('base64');
    const isLast = from + PIECE_BYTES >= bytes.length;
    const answer = await send({ upload, data: piece, size: bytes.length, isLast });
    if (isLast) return answer;
  }
}

/** Joins the pieces of the uploads of one process. */
export class ReceivedUploads {
  readonly #pieces = new Map<string, { readonly parts: Uint8Array[]; size: number }>();

  /** `most`: the maximum number of bytes of a file. */
  constructor(private readonly most: () => number) {}

  /**
   * Adds a piece. Returns all bytes with the last one. **Errors** — `E_FILE_SIZE`, `E_IPC_FULL`; the upload is then
   * forgotten.
   */
  add({ upload, data, size, isLast }: UploadPiece): Uint8Array | undefined {
    const known = this.#pieces.get(upload) ?? { parts: [], size: 0 };
    this.#pieces.delete(upload);
    // A file that is too large is refused with its first piece.
    if (size > this.most()) throw tooLarge('A file', size, this.most());
    if (this.#pieces.size >= MOST_UPLOADS) {
      throw new GoondanError('E_IPC_FULL', `${MOST_UPLOADS} files are being uploaded.`, { retryable: true });
    }
    const part = Buffer.from(data, 'base64');
    known.parts.push(part);
    known.size += part.length;
    if (known.size > this.most()) throw tooLarge('A file', known.size, this.most());
    if (isLast) return Buffer.concat(known.parts, known.size);
    this.#pieces.set(upload, known);
    return undefined;
  }
}
