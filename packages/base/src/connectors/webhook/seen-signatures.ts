/**
 * Binds each signature to the first delivery id that it came with. This protects senders whose signature does not cover
 * the id. Without it, an attacker with a copy of a delivery could send it again under another id.
 *
 * The newest `MOST` signatures are remembered across restarts, one line each in `signatures.jsonl` in the connection's
 * folder. The file is compacted when it has twice as many lines as `MOST`. A line that a crash truncated is skipped.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '@goondan/types/http';
import { openLines } from '../../lines/open-lines.ts';

const MOST = 10_000;

export class SeenSignatures {
  readonly #file: string;
  readonly #most: number;
  /** Hash of the signature → hash of the id, oldest first. */
  readonly #ids = new Map<string, string>();
  #lines = 0;

  constructor(folder: string, most = MOST) {
    this.#file = join(folder, 'signatures.jsonl');
    this.#most = most;
    for (const [signature, id] of openLines(this.#file).flatMap(parseLine)) {
      this.#ids.set(signature, id);
      this.#lines += 1;
    }
    this.#forget();
  }

  /**
   * Binds a signature to an id. Call it before the delivery is used. Throws a `Refusal` with 401 when the signature was
   * already used with another id.
   */
  bind(signature: string, id: string): void {
    const [key, value] = [hashOf(signature), hashOf(id)];
    const known = this.#ids.get(key);
    if (known === value) return;
    if (known !== undefined) {
      throw new Refusal(401, 'E_WEBHOOK_SIGNATURE', 'This delivery was sent before, under another id.');
    }
    this.#ids.set(key, value);
    this.#forget();
    if (this.#lines >= 2 * this.#most) return this.#writeAnew();
    appendFileSync(this.#file, toLine([key, value]), { mode: 0o600 });
    this.#lines += 1;
  }

  #forget(): void {
    for (const key of this.#ids.keys()) {
      if (this.#ids.size <= this.#most) return;
      this.#ids.delete(key);
    }
  }

  #writeAnew(): void {
    writeFileSync(`${this.#file}.new`, [...this.#ids].map(toLine).join(''), { mode: 0o600 });
    renameSync(`${this.#file}.new`, this.#file);
    this.#lines = this.#ids.size;
  }
}

function toLine(line: readonly [signature: string, id: string]): string {
  return `${JSON.stringify(line)}\n`;
}

function parseLine(line: string): [signature: string, id: string][] {
  const [, signature, id] = /^\["(\w+)","(\w+)"\]$/.exec(line) ?? [];
  return signature === undefined || id === undefined ? [] : [[signature, id]];
}

/** Returns a short hash. It need not be secret, because it cannot be used as a signature. */
function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
