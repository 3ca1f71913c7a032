/**
 * Remembers the questions that clients got as tool calls, so that the answer finds its turn, also after a restart.
 *
 * Invariants: 1. A question belongs to the client that got it. 2. Only a hash of an answer is kept, because a form may have a
 * password. 3. The newest `MOST` questions are remembered, in `questions.jsonl` in the connection's folder: one line when a
 * question is shown, and one when it is answered. The file is compacted when it has twice as many lines as `MOST`.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectorQuestion, JsonObject } from '@goondan/types';
import { isObject } from '../../json/is-object.ts';
import { openLines } from '../../lines/open-lines.ts';

const MOST = 2_000;

/** The turn that asked, and the chat that it belongs to. */
export interface AskedTurn {
  readonly client: string;
  readonly agent: string;
  readonly conversation: string;
  /** True if the client named the conversation. */
  readonly isNamed: boolean;
  /** The id and the properties of the event that began the turn. An event with both waits for the same turn. */
  readonly eventId: string;
  readonly properties: JsonObject;
}

export interface ShownQuestion extends AskedTurn {
  readonly id: string;
  /** The digest of the question that the client saw. */
  readonly digest: string;
  /** The hash of the tool message that answered the question; absent before that. */
  readonly answer?: string;
}

export class AskedTurns {
  readonly #file: string;
  readonly #most: number;
  /** The questions by id, oldest first. */
  readonly #shown = new Map<string, ShownQuestion>();
  #lines = 0;

  constructor(folder: string, most = MOST) {
    this.#file = join(folder, 'questions.jsonl');
    this.#most = most;
    for (const shown of openLines(this.#file).flatMap(parseLine)) {
      this.#keep(shown);
      this.#lines += 1;
    }
  }

  find(id: string): ShownQuestion | undefined {
    return this.#shown.get(id);
  }

  shown({ id, digest }: ConnectorQuestion, turn: AskedTurn): void {
    if (this.#shown.get(id)?.digest !== digest) this.#record({ ...turn, id, digest });
  }

  /** `text`: the tool message that answered the question. */
  answered(shown: ShownQuestion, text: string): void {
    this.#record({ ...shown, answer: hashOf(shown, text) });
  }

  /** Returns true if exactly this tool message has answered the question. */
  isAnsweredWith({ id }: ShownQuestion, text: string): boolean {
    const shown = this.find(id);
    return shown?.answer !== undefined && shown.answer === hashOf(shown, text);
  }

  #record(shown: ShownQuestion): void {
    this.#keep(shown);
    if (this.#lines >= 2 * this.#most) return this.#writeAnew();
    appendFileSync(this.#file, `${JSON.stringify(shown)}\n`, { mode: 0o600 });
    this.#lines += 1;
  }

  #keep(shown: ShownQuestion): void {
    this.#shown.delete(shown.id);
    this.#shown.set(shown.id, shown);
    const [oldest] = this.#shown.keys();
    if (this.#shown.size > this.#most && oldest !== undefined) this.#shown.delete(oldest);
  }

  #writeAnew(): void {
    const lines = [...this.#shown.values()].map((shown) => `${JSON.stringify(shown)}\n`);
    writeFileSync(`${this.#file}.new`, lines.join(''), { mode: 0o600 });
    renameSync(`${this.#file}.new`, this.#file);
    this.#lines = lines.length;
  }
}

/** The event id makes the hashes of equal answers different. */
function hashOf({ id, eventId }: ShownQuestion, text: string): string {
  return createHash('sha256')
    .update(JSON.stringify([eventId, id, text]))
    .digest('hex');
}

/** Parses one line of the file. Returns an empty list for a line that a crash truncated, or that is no question. */
function parseLine(text: string): ShownQuestion[] {
  try {
    const line: unknown = JSON.parse(text);
    return isShown(line) ? [line] : [];
  } catch {
    return [];
  }
}

/** Without its digest, an answer would count for any question with the id; without its client, for any client. */
function isShown(line: unknown): line is ShownQuestion {
  if (!isObject(line)) return false;
  const { id, digest, client, agent, conversation, eventId, isNamed, properties, answer } = line;
  return (
    [id, digest, client, agent, conversation, eventId, answer ?? ''].every((text) => typeof text === 'string') &&
    typeof isNamed === 'boolean' &&
    isObject(properties)
  );
}
