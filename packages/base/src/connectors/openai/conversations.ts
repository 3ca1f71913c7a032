/**
 * Finds the agent instance for a chat request.
 *
 * Clients send the whole transcript with every request, but no conversation id, and the swarm keeps its own
 * conversation. So a chat is recognised by its transcript: if the client sends the transcript that a conversation had
 * after its last answer, only the new message is passed on. An unknown transcript (edited, regenerated, or from
 * elsewhere) starts a new conversation, which gets the transcript as context.
 *
 * Invariants:
 * 1. A transcript belongs to one client and one agent. A name that a client gives to a conversation belongs to that client.
 * 2. Only the newest transcript of each conversation is known: a chat cannot continue from an earlier point.
 * 3. Until a message is answered or fails, sending it again after the same transcript gives the same event. So a client
 *    that retries gets the answer, and the agent gets the message once.
 * 4. While a turn waits for the client's answer to a question, its conversation is busy: the transcript of the client
 *    continues with that answer, and any other message starts a new conversation.
 * 5. The newest `MOST` conversations are remembered across restarts, in `conversations.jsonl` in the connection's
 *    folder, with one line per answer. The file is compacted when it has twice as many lines as `MOST`.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChatMessage } from './read-chat.ts';
import { openLines } from '../../lines/open-lines.ts';

const MOST = 10_000;

/** The client and the agent of a chat. */
export interface Parties {
  readonly client: string;
  readonly agent: string;
}

/** The conversation and the event id for a message, and callbacks for the outcome of its turn. */
export interface Place {
  readonly conversation: string;
  /** True when the conversation already contains the earlier transcript. */
  readonly isKnown: boolean;
  /**
   * The event id, which stays the same when the client repeats the message. The id is absent when the client must
   * provide one.
   */
  readonly id?: string;
  /** Call it when the client has received this answer. */
  answered(answer: string): void;
  /** Call it when the turn failed. If the client then repeats the message, the message becomes a new event. */
  failed(): void;
  /**
   * Call it when the outcome of the turn is unknown. If the client then repeats the message, the message is the same
   * event.
   */
  left(): void;
}

interface Conversation {
  readonly head: string;
  readonly attempt: number;
}

export class Conversations {
  readonly #file: string;
  readonly #most: number;
  readonly #newKey: () => string;
  /** The known conversations by key, oldest first. */
  readonly #conversations = new Map<string, Conversation>();
  /** Hash of the newest transcript → key of the conversation. */
  readonly #keys = new Map<string, string>();
  /** Conversation key → hash of the message that is being answered. */
  readonly #busy = new Map<string, string>();
  #lines = 0;

  /** `clients`: the names of all clients of the connection. */
  constructor(
    folder: string,
    private readonly clients: readonly string[] = [],
    newKey = () => `chat-${crypto.randomUUID()}`,
    most = MOST,
  ) {
    this.#file = join(folder, 'conversations.jsonl');
    this.#most = most;
    this.#newKey = newKey;
    for (const [key, head, attempt] of openLines(this.#file).flatMap(parseLine)) {
      this.#keep(key, { head, attempt });
      this.#lines += 1;
    }
  }

  /**
   * Finds the place of a message. `named` is the client's own conversation id. If `named` is given, the transcript is
   * ignored.
   */
  find(parties: Parties, earlier: readonly ChatMessage[], input: string, named?: string): Place {
    if (named !== undefined) return this.#named(parties, named);
    const said = earlier.filter(({ role }) => role !== 'system');
    const before = transcriptOf(parties, said);
    const message = hashOf(before, input);
    const known = said.length === 0 ? undefined : this.#keys.get(before);
    const isFree = known !== undefined && (this.#busy.get(known) ?? message) === message;
    const key = isFree ? known : this.#newKey();
    const attempt = isFree ? (this.#conversations.get(key)?.attempt ?? 0) : 0;
    if (isFree) this.#busy.set(key, message);
    const over = (conversation: Conversation | undefined) => {
      if (this.#busy.get(key) === message) this.#busy.delete(key);
      if (conversation !== undefined) this.#record(key, conversation);
    };
    return {
      conversation: key,
      isKnown: isFree,
      ...(isFree ? { id: hashOf(key, message, String(attempt)) } : {}),
      answered: (answer) =>
        over({
          head: transcriptOf(parties, [...said, { role: 'user', text: input }, { role: 'assistant', text: answer }]),
          attempt: 0,
        }),
      failed: () => over(isFree ? { head: before, attempt: attempt + 1 } : undefined),
      left: () => over(undefined),
    };
  }

  /**
   * Returns the place of a turn that continues, because the client has answered a question. `earlier`: the transcript of the
   * request, with the message that began the turn.
   */
  resume(
    parties: Parties,
    { conversation: key, isNamed }: { readonly conversation: string; readonly isNamed: boolean },
    earlier: readonly ChatMessage[],
  ): Place {
    const said = earlier.filter(({ role }) => role !== 'system');
    const over = (conversation: Conversation | undefined) => {
      this.#busy.delete(key);
      if (conversation !== undefined) this.#record(key, conversation);
    };
    const before = this.#conversations.get(key);
    return {
      conversation: key,
      isKnown: true,
      answered: (answer) => {
        const head = isNamed ? '' : transcriptOf(parties, [...said, { role: 'assistant', text: answer }]);
        over(isNamed && before !== undefined ? undefined : { head, attempt: 0 });
      },
      failed: () => over(before && { ...before, attempt: before.attempt + 1 }),
      // The turn continues, and the client can come back.
      left: () => undefined,
    };
  }

  #named({ client }: Parties, named: string): Place {
    const conversation = this.#keyOf(client, named);
    const isKnown = this.#conversations.has(conversation);
    return {
      conversation,
      isKnown,
      answered: () => {
        if (!isKnown) this.#record(conversation, { head: '', attempt: 0 });
      },
      failed: () => undefined,
      left: () => undefined,
    };
  }

  /** Returns the key of a conversation that a client named. No other client has the same key, whatever names it gives. */
  #keyOf(client: string, named: string): string {
    const key = client === DEFAULT_CLIENT ? named : `${client}/${named}`;
    const others = this.clients.filter((other) => other !== client && other !== DEFAULT_CLIENT);
    return others.some((other) => key.startsWith(`${other}/`)) ? `${client}/${hashOf(client, named)}` : key;
  }

  #record(key: string, conversation: Conversation): void {
    this.#keep(key, conversation);
    if (this.#lines >= 2 * this.#most) return this.#writeAnew();
    appendFileSync(this.#file, toLine(key, conversation), { mode: 0o600 });
    this.#lines += 1;
  }

  #keep(key: string, conversation: Conversation): void {
    this.#drop(key);
    this.#conversations.set(key, conversation);
    if (conversation.head !== '') this.#keys.set(conversation.head, key);
    for (const oldest of this.#conversations.keys()) {
      if (this.#conversations.size <= this.#most) return;
      this.#drop(oldest);
      this.#busy.delete(oldest);
    }
  }

  #drop(key: string): void {
    const head = this.#conversations.get(key)?.head;
    if (head !== undefined && this.#keys.get(head) === key) this.#keys.delete(head);
    this.#conversations.delete(key);
  }

  #writeAnew(): void {
    const lines = [...this.#conversations].map(([key, conversation]) => toLine(key, conversation));
    writeFileSync(`${this.#file}.new`, lines.join(''), { mode: 0o600 });
    renameSync(`${this.#file}.new`, this.#file);
    this.#lines = lines.length;
  }
}

export const DEFAULT_CLIENT = 'default';

/**
 * Returns the hash of a transcript. White space is normalised first, because clients trim texts and change line breaks.
 */
function transcriptOf({ client, agent }: Parties, said: readonly ChatMessage[]): string {
  return hashOf(client, agent, ...said.flatMap(({ role, text }) => [role, text.trim().replaceAll(/\s+/g, ' ')]));
}

function hashOf(...texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 32);
}

function toLine(key: string, { head, attempt }: Conversation): string {
  return `${JSON.stringify([key, head, attempt])}\n`;
}

/** Parses one line of the file. Returns an empty list for a line that a crash truncated. */
function parseLine(text: string): [key: string, head: string, attempt: number][] {
  try {
    const line: unknown = JSON.parse(text);
    if (!Array.isArray(line)) return [];
    const [key, head, attempt] = line as unknown[];
    return typeof key === 'string' && typeof head === 'string' && typeof attempt === 'number'
      ? [[key, head, attempt]]
      : [];
  } catch {
    return [];
  }
}
