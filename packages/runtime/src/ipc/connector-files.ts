/**
 * Files of a connector's events. Their bytes go to the orchestrator first, piece by piece, and the event then has
 * references. The conversation of the event is known only after that, so the bytes belong to an upload until the event is
 * accepted or refused.
 */
import { type ContentPart, GoondanError } from '@goondan/types';
import { toReference } from '../files/to-reference.ts';
import { newUuid } from '../ports/ids.ts';
import { ReceivedUploads, sendInPieces, type UploadPiece } from './blob-chunks.ts';
import type { ChannelEnd } from './channel/channel.ts';
import { fromFrameError, toFrameError } from './check/frame-error.ts';
import type { FromConnector } from './from-connector.ts';
import { PendingAnswers } from './pending-answers.ts';
import type { ToConnector } from './to-connector.ts';

/** Content whose bytes are stored. Call `release` when its event is accepted or refused. */
export interface UploadedContent {
  readonly content: readonly ContentPart[];
  release(): void;
}

/** The connector's side. */
export class FileUploads {
  readonly #pending = new PendingAnswers<void>();

  constructor(private readonly channel: ChannelEnd<FromConnector, ToConnector>) {
    channel.onMessage((message) => {
      if (message.type === 'file.taken') this.#pending.answer(message.callId, undefined);
      if (message.type === 'file.refused') this.#pending.refuse(message.callId, fromFrameError(message.error));
    });
    channel.onClose(() => this.#pending.refuseAll(new GoondanError('E_IPC_CLOSED', 'The orchestrator has exited.')));
  }

  /** Sends the bytes of the parts. **Errors** — `E_FILE_INVALID`, `E_FILE_SIZE`, `E_IPC_FULL`; those of the store. */
  async upload(content: readonly ContentPart[]): Promise<UploadedContent> {
    const uploads: string[] = [];
    const release = () => {
      // If sending fails, the orchestrator has exited or releases the uploads of this channel itself.
      if (uploads.length > 0) this.channel.send({ type: 'file.release', uploads }).catch(() => undefined);
    };
    try {
      const stored: ContentPart[] = [];
      for (const [index, part] of content.entries()) stored.push(await this.#uploadPart(part, index, uploads));
      return { content: stored, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #uploadPart(part: ContentPart, index: number, uploads: string[]): Promise<ContentPart> {
    const { part: stored, bytes } = toReference(part, `content[${index}]`);
    if (bytes === undefined) return part;
    const upload = newUuid();
    uploads.push(upload);
    await sendInPieces(bytes, upload, (piece) => {
      const callId = newUuid();
      return this.#pending.ask(callId, () => this.channel.send({ type: 'file.put', callId, ...piece }));
    });
    return stored;
  }
}

/** The store of uploads, as the orchestrator has it. */
export interface UploadStore {
  /** Returns the SHA-256 of the bytes. */
  put(owner: { readonly upload: string }, bytes: Uint8Array): Promise<string>;
  release(owner: { readonly upload: string }): Promise<void>;
}

/** The most stored uploads of one connector whose events are neither accepted nor refused. */
const MOST_HELD = 1_000;

/** The uploads of one connector process. */
export interface HeldUploads {
  /** Returns true if the process has uploaded these bytes, and has not released them. */
  has(digest: string): boolean;
}

/** Stores the uploads of a connector, on the orchestrator's side. `most`: the maximum number of bytes of a file. */
export function storeUploads(
  channel: ChannelEnd<ToConnector, FromConnector>,
  store: UploadStore,
  most: () => number,
): HeldUploads {
  const received = new ReceivedUploads(most);
  /** The stored uploads, by the id of the connector. Ours is another one, so that no connector can release those of others. */
  const held = new Map<string, { readonly own: string; digest?: string }>();
  const release = (upload: string) => {
    const known = held.get(upload);
    held.delete(upload);
    if (known !== undefined) void store.release({ upload: known.own }).catch(() => undefined);
  };
  const take = async (piece: UploadPiece): Promise<void> => {
    const bytes = received.add(piece);
    if (bytes === undefined) return;
    if (held.size >= MOST_HELD) {
      throw new GoondanError('E_IPC_FULL', `${MOST_HELD} files of this connector wait.`, { retryable: true });
    }
    const own = newUuid();
    // A second upload with the same id takes the place of the first one.
    release(piece.upload);
    const place: { readonly own: string; digest?: string } = { own };
    held.set(piece.upload, place);
    place.digest = await store.put({ upload: own }, bytes);
    // The connector has exited meanwhile.
    if (channel.isClosed) await store.release({ upload: own });
  };
  channel.onMessage((message) => {
    if (message.type === 'file.release') message.uploads.forEach(release);
    if (message.type !== 'file.put') return;
    const { callId, ...piece } = message;
    take(piece)
      .then(
        () => channel.send({ type: 'file.taken', callId }),
        (error: unknown) => channel.send({ type: 'file.refused', callId, error: toFrameError(error, 'E_STORE_WRITE') }),
      )
      .catch(() => undefined);
  });
  channel.onClose(() => [...held.keys()].forEach(release));
  return { has: (asked) => held.values().some(({ digest }) => digest === asked) };
}
