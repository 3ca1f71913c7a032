/**
 * Remembers the questions that clients got as tool calls, so that the answer finds its turn, also after a restart.
 *
 * Invariants: 1. A question belongs to the client that got it. 2. The newest `MOST` questions are remembered, in
 * `questions.jsonl` in the connection's folder: one line when a question is shown, and one when it is answered. The file is
 * compacted when it has twice as many lines as `MOST`.
 */
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectorQuestion, JsonObject } from '@goondan/types';
import { isObject } from '../../json/is-object.ts';
import { readLines } from '../../lines/read-lines.ts';

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
  /** The text of the tool message that answered the question; absent before that. */
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
    for (const shown of readLines(this.#file).flatMap(parseLine)) {
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

  answered(shown: ShownQuestion, answer: string): void {
    this.#record({ ...shown, answer });
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

/** Parses one line of the file. Returns an empty list for a line that a crash truncated. */
function parseLine(text: string): ShownQuestion[] {
  try {
    const line: unknown = JSON.parse(text);
    // Safe: this file is only written here, and a truncated line is not JSON.
    return isObject(line) && typeof line.id === 'string' ? [line as unknown as ShownQuestion] : [];
  } catch {
    return [];
  }
}
