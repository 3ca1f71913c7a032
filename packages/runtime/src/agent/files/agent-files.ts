/**
 * The images and files of one agent instance. Whatever enters its conversation with bytes in it, from a layer, a model or
 * a tool, leaves here with references.
 *
 * 1. A part gets its reference at once, because a message event is applied at once. The bytes are stored meanwhile.
 * 2. `settle` is awaited before records are written, so nothing durable names bytes that are not.
 * 3. Bytes that a model call needs again are kept in memory within a bound.
 */
import {
  type AgentAddress,
  type AgentEvent,
  type ContentPart,
  GoondanError,
  isToolContent,
  type JsonValue,
  type Message,
  type MessageEvent,
  type ModelMessage,
  type ModelReply,
  sourceOfPart,
  type ToolResultPart,
} from '@goondan/types';
import { checkSizes, type FileLimits } from '../../files/check-content.ts';
import { readSource } from '../../files/read-source.ts';
import { toReference } from '../../files/to-reference.ts';
import type { AgentBlobs } from '../../store/blobs.ts';
import { unknownFile } from '../../store/unknown-file.ts';
import { type Part, referencesIn, referencesOf } from './find-references.ts';

/** The most bytes that are kept in memory for later model calls. */
const MOST_KEPT_BYTES = 64 * 1_024 * 1_024;

export class AgentFiles {
  /** The uploads under way, and those that failed since the last `settle`. */
  readonly #storing = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;
  /** The bytes of uploads under way, and those that were used last, newest at the end. */
  readonly #kept = new Map<string, Uint8Array>();
  #keptBytes = 0;
  /** The digests that this instance uses, as far as this process knows. */
  readonly #used = new Set<string>();
  /** Those of them whose bytes are stored for sure: a use may have found nothing. */
  readonly #stored = new Set<string>();
  /** The digests that no commit has named yet. */
  #unnamed = new Set<string>();

  constructor(
    private readonly blobs: AgentBlobs,
    private readonly address: AgentAddress,
    private readonly limits: () => FileLimits,
  ) {}

  /** Replaces bytes in a message event. The event is a checked one. **Errors** — `E_FILE_SIZE`. */
  takeEvent(event: MessageEvent): MessageEvent {
    if (!('message' in event)) return event;
    const message = this.takeMessage(event.message);
    return message === event.message ? event : Object.freeze({ ...event, message });
  }

  takeMessage(message: Message): Message {
    const data = this.takeModelMessage(message.data);
    return data === message.data ? message : Object.freeze({ ...message, data });
  }

  takeModelMessage(message: ModelMessage): ModelMessage {
    const { content } = message;
    if (typeof content === 'string') return message;
    const taken = this.#takeParts<Part>(content);
    // Safe: a part keeps its type, so the parts still fit the role.
    return taken === content ? message : (Object.freeze({ ...message, content: taken }) as ModelMessage);
  }

  takeReply(reply: ModelReply): ModelReply {
    const content = this.#takeParts(reply.content);
    return content === reply.content ? reply : { ...reply, content };
  }

  /**
   * Replaces bytes in the output of a tool's handler. Such an output often comes from outside, so it names only files that
   * are in the conversation already. **Errors** — `E_FILE_SIZE`, `E_FILE_UNKNOWN`.
   */
  takeResult(output: JsonValue, messages: () => readonly Message[]): JsonValue {
    if (!isToolContent(output)) return output;
    const named = referencesOf(output.value).filter((digest) => !this.#stored.has(digest));
    if (named.length > 0) {
      const known = new Set(messages().flatMap(({ data }) => referencesIn(data)));
      const forged = named.find((digest) => !known.has(digest));
      if (forged !== undefined) throw unknownFile(forged);
    }
    checkSizes(output.value, this.limits());
    return this.takeOutput(output);
  }

  /**
   * Replaces bytes in the output of a tool, if it has the shape of content. Files that are stored are not checked: a
   * recorded result stays what it is, although the limits have changed since. **Errors** — `E_FILE_SIZE`.
   */
  takeOutput(output: JsonValue): JsonValue {
    if (!isToolContent(output)) return output;
    checkSizes(output.value.filter(hasBytes), this.limits());
    const value = this.#takeParts(output.value);
    // Safe: content parts are JSON, but TypeScript does not accept an interface as JSON.
    return value === output.value ? output : { type: 'content', value: value as unknown as JsonValue };
  }

  /** Replaces bytes in the parts of an input. */
  takeContent(content: readonly ContentPart[]): readonly ContentPart[] {
    return this.#takeParts(content);
  }

  /** Replaces bytes in an event that did not come through an inbox. */
  takeInput(event: AgentEvent): AgentEvent {
    if (event.content === undefined) return event;
    const content = this.takeContent(event.content);
    return content === event.content ? event : Object.freeze({ ...event, content });
  }

  /** Returns a promise while bytes are being stored; it rejects if that fails. Otherwise `undefined`. */
  settle(): Promise<void> | undefined {
    if (this.#storing.size === 0 && this.#failure === undefined) return undefined;
    return this.#settled();
  }

  /** Notes that a commit names everything that was taken so far. Never rejects. */
  async committed(): Promise<void> {
    if (this.#unnamed.size === 0) return;
    const digests = [...this.#unnamed];
    this.#unnamed = new Set();
    // Without the note, the next start looks for the names.
    await this.blobs.named(this.address, digests).catch(() => undefined);
  }

  /** Reads stored bytes. **Errors** — `E_FILE_UNKNOWN`; those of the store. */
  async read(digest: string): Promise<Uint8Array> {
    const kept = this.#kept.get(digest);
    const bytes = kept ?? (await this.blobs.get(digest));
    if (bytes === undefined) {
      throw new GoondanError('E_FILE_UNKNOWN', `A file of the conversation is not stored any more: SHA-256 ${digest}.`);
    }
    this.#keep(digest, bytes);
    return bytes;
  }

  #takeParts<Kind extends Part>(parts: readonly Kind[]): Kind[] {
    const taken = parts.map((part) => this.#takePart(part));
    // Safe: the cast only removes `readonly`, and the caller gets its own array back.
    return taken.every((part, index) => part === parts[index]) ? (parts as Kind[]) : (Object.freeze(taken) as Kind[]);
  }

  #takePart<Kind extends Part>(part: Kind): Kind {
    // Safe, here and below: a part keeps its type.
    if (part.type === 'image' || part.type === 'file') return this.#takeFile(part) as Kind;
    if (part.type !== 'tool-result') return part;
    const { output } = part;
    if (output.type !== 'content') return part;
    const value = this.#takeParts(output.value);
    if (value === output.value) return part;
    const changed: ToolResultPart = { ...part, output: Object.freeze({ ...output, value }) };
    return Object.freeze(changed) as Kind;
  }

  #takeFile(part: Extract<Part, { type: 'image' | 'file' }>): ContentPart {
    const source = readSource(sourceOfPart(part));
    if (source.kind === 'reference') {
      this.#use(source.digest);
      return part;
    }
    if (source.kind !== 'bytes') return part;
    checkSizes([part], this.limits());
    const { part: referred, digest, bytes } = referOrLeave(part);
    if (digest !== undefined && bytes !== undefined) this.#put(digest, bytes);
    return referred;
  }

  #put(digest: string, bytes: Uint8Array): void {
    if (this.#stored.has(digest)) return;
    this.#stored.add(digest);
    this.#used.add(digest);
    this.#unnamed.add(digest);
    this.#keep(digest, bytes);
    this.#store(async () => void (await this.blobs.put(this.address, bytes)));
  }

  /** Notes the use of a reference from elsewhere. A reference that leads nowhere fails the model call that needs it. */
  #use(digest: string): void {
    if (this.#used.has(digest)) return;
    this.#used.add(digest);
    this.#unnamed.add(digest);
    this.#store(async () => {
      try {
        await this.blobs.use(this.address, [digest]);
        this.#stored.add(digest);
      } catch (error) {
        if (!GoondanError.is(error) || error.code !== 'E_FILE_UNKNOWN') throw error;
        // The bytes themselves may have come meanwhile.
        if (!this.#stored.has(digest)) this.#unnamed.delete(digest);
      }
    });
  }

  #store(act: () => Promise<void>): void {
    const storing = act().catch((error: unknown) => {
      this.#failure ??= { error };
    });
    this.#storing.add(storing);
    void storing.finally(() => this.#storing.delete(storing));
  }

  async #settled(): Promise<void> {
    while (this.#storing.size > 0) await Promise.all(this.#storing);
    const failure = this.#failure;
    if (failure === undefined) return;
    this.#failure = undefined;
    // The next attempt has to store everything again.
    this.#used.clear();
    this.#stored.clear();
    throw failure.error;
  }

  #keep(digest: string, bytes: Uint8Array): void {
    if (bytes.length > MOST_KEPT_BYTES) return;
    if (this.#kept.delete(digest)) this.#keptBytes -= bytes.length;
    this.#kept.set(digest, bytes);
    this.#keptBytes += bytes.length;
    for (const [oldest, { length }] of this.#kept) {
      if (this.#keptBytes <= MOST_KEPT_BYTES) return;
      this.#kept.delete(oldest);
      this.#keptBytes -= length;
    }
  }
}

function hasBytes(part: ContentPart): boolean {
  return part.type !== 'text' && readSource(sourceOfPart(part)).kind === 'bytes';
}

/** Text that is not base64 stays as it is: it has no bytes, and the provider says what is wrong with it. */
function referOrLeave(part: ContentPart): ReturnType<typeof toReference> {
  try {
    return toReference(part, 'a part');
  } catch {
    return { part };
  }
}
