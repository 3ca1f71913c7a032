/**
 * Remembers, in `schedule.json` in the connection's folder, the last handled time of each entry. After a restart, the
 * connector can tell from this file which times were missed. An unreadable file counts as empty, and then no time
 * counts as missed.
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

  /**
   * Reads the records. If an entry has no record, or its rule has changed since the record was written, only times from
   * now on count for this entry. Records of removed entries are deleted.
   */
  constructor(folder: string, entries: readonly OpenEntry[], now: number) {
    this.#file = join(folder, 'schedule.json');
    const recorded = readRecords(this.#file);
    for (const { entry, rule } of entries) {
      const known = recorded.get(entry.name);
      // If the clock was set back, the entry would otherwise stay silent until the clock reaches the recorded time
      // again.
      const until = known?.rule === rule ? Math.min(known.until, now) : now;
      this.#handled.set(entry.name, { rule, until });
    }
    this.#write();
  }

  until({ entry }: OpenEntry): number {
    return this.#handled.get(entry.name)?.until ?? 0;
  }

  /**
   * Records the handled time, without a sync. If the record is lost, the event is emitted again, and ignored because
   * its id was already accepted.
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
