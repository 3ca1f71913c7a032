/**
 * Finds the instance for a chat.
 *
 * Clients send the whole transcript each time, without an id; the swarm keeps its own conversation. So a chat is
 * recognised by its transcript: if it equals the transcript after the last answer, only the new message is passed on.
 * An unknown transcript (edited, regenerated, or from elsewhere) begins another conversation, which gets the transcript
 * as context.
 *
 * Invariants:
 * 1. A transcript belongs to one client and one agent.
 * 2. Only the newest transcript of each conversation is known: a chat cannot continue from its middle.
 * 3. The same message after the same transcript is the same event, until it is answered or fails: a client that tries
 *    again gets the answer, and nothing is said twice.
 * 4. The newest `MOST` conversations are known, also after a restart: a line for each answer in `conversations.jsonl`
 *    of the connection's folder, which is written anew when it has twice as many.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChatMessage } from './read-chat.ts';
import { readLines } from '../../lines/read-lines.ts';

const MOST = 10_000;

/** The client and the agent of a chat. */
export interface Parties {
  readonly client: string;
  readonly agent: string;
}

/** The address of a message, and callbacks for its outcome. */
export interface Place {
  readonly conversation: string;
  /** Whether the conversation already has the earlier transcript. */
  readonly isKnown: boolean;
  /** The same message again is the same event; absent where the client has to say that. */
  readonly id?: string;
  /** The client has this answer now. */
  answered(answer: string): void;
  /** The turn of the message failed: the same message again is another event. */
  failed(): void;
  /** The outcome of its turn is unknown here: the same message again is the same event. */
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
  /** The known conversations by key, the oldest first. */
  readonly #conversations = new Map<string, Conversation>();
  /** Hash of the newest transcript → key of the conversation. */
  readonly #keys = new Map<string, string>();
  /** Key → hash of the message that is being answered. */
  readonly #busy = new Map<string, string>();
  #lines = 0;

  constructor(folder: string, newKey = () => `chat-${crypto.randomUUID()}`, most = MOST) {
    this.#file = join(folder, 'conversations.jsonl');
    this.#most = most;
    this.#newKey = newKey;
    for (const [key, head, attempt] of readLines(this.#file).flatMap(parseLine)) {
      this.#keep(key, { head, attempt });
      this.#lines += 1;
    }
  }

  /** `named` is the client's own id of the conversation; the transcript is then ignored. */
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

  #named({ client }: Parties, named: string): Place {
    const conversation = client === DEFAULT_CLIENT ? named : `${client}/${named}`;
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

/** Normalises blanks, because clients trim texts and change line breaks. */
function transcriptOf({ client, agent }: Parties, said: readonly ChatMessage[]): string {
  return hashOf(client, agent, ...said.flatMap(({ role, text }) => [role, text.trim().replaceAll(/\s+/g, ' ')]));
}

function hashOf(...texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 32);
}

type Line = [key: string, head: string, attempt: number];

function toLine(key: string, { head, attempt }: Conversation): string {
  return `${JSON.stringify([key, head, attempt] satisfies Line)}\n`;
}

/** Returns nothing for a line that a crash cut. */
function parseLine(text: string): Line[] {
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
