/**
 * The last handled time of each entry, in `schedule.json` of the connection's folder, from which a restart knows the
 * missed times. An unreadable file counts as empty, and then nothing was missed.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenEntry } from './open-entries.ts';

interface Handled {
  readonly rule: string;
  readonly until: number;
}

export class HandledTimes {
  readonly #file: string;
  readonly #handled = new Map<string, Handled>();

  /** An entry without a record, or with one of another rule, begins now. Records of removed entries are deleted. */
  constructor(folder: string, entries: readonly OpenEntry[], now: number) {
    this.#file = join(folder, 'schedule.json');
    const recorded = readRecords(this.#file);
    for (const { entry, rule } of entries) {
      const known = recorded.get(entry.name);
      // After the clock was set back, the entry must not stop until it has caught up.
      const until = known?.rule === rule ? Math.min(known.until, now) : now;
      this.#handled.set(entry.name, { rule, until });
    }
    this.#write();
  }

  until({ entry }: OpenEntry): number {
    return this.#handled.get(entry.name)?.until ?? 0;
  }

  /**
   * Writes without a sync: a lost record means that the event is emitted again, under an id that was already accepted.
   */
  settle({ entry, rule }: OpenEntry, until: number): void {
    this.#handled.set(entry.name, { rule, until });
    this.#write();
  }

  #write(): void {
    writeFileSync(`${this.#file}.new`, JSON.stringify(Object.fromEntries(this.#handled)), { mode: 0o600 });
    renameSync(`${this.#file}.new`, this.#file);
  }
}

function readRecords(file: string): Map<string, Handled> {
  const records = new Map<string, Handled>();
  for (const [name, record] of Object.entries(readObject(file))) {
    if (typeof record !== 'object' || record === null) continue;
    const { rule, until } = record as Record<string, unknown>;
    if (typeof rule === 'string' && typeof until === 'number') records.set(name, { rule, until });
  }
  return records;
}

function readObject(file: string): object {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
