/** What `write-items.ts` confirmed, and whether a database has it. */
import { Database } from 'bun:sqlite';

export interface ToldItem {
  readonly isDurable: boolean;
  readonly conversation: number;
  readonly number: number;
}

export function readTold(output: string): readonly ToldItem[] {
  return Array.from(output.matchAll(/^(durable|written) (\d+) (\d+)$/gm), ([, kind, conversation, number]) => ({
    isDurable: kind === 'durable',
    conversation: Number(conversation),
    number: Number(number),
  }));
}

/** The problems that a writer reported. */
export function readReports(output: string): readonly string[] {
  return output.split('\n').filter((line) => line !== '' && !/^(?:start|end|(?:durable|written) \d+ \d+)$/.test(line));
}

interface Comparison {
  readonly lost: readonly ToldItem[];
  /** What SQLite says about the file, if it is not whole. */
  readonly damage: readonly string[];
}

/** Opens a database as its next owner would, and looks for items. A number is missing if a later one is there without it. */
function compareItems(path: string, told: readonly ToldItem[]): Comparison {
  const database = new Database(path, { readwrite: true });
  try {
    const checked = database.query<{ integrity_check: string }, []>('pragma integrity_check').all();
    const damage = checked.map((row) => row.integrity_check).filter((text) => text !== 'ok');
    // A writer that was killed very early has made no table.
    if (told.length === 0) return { lost: [], damage };
    const rows = database
      .query<{ conversation: number; number: number }, []>('select conversation, number from item')
      .all();
    const kept = new Set(rows.map(({ conversation, number }) => `${conversation} ${number}`));
    const holes = rows.filter(({ conversation, number }) => number > 1 && !kept.has(`${conversation} ${number - 1}`));
    const lost = told.filter(({ conversation, number }) => !kept.has(`${conversation} ${number}`));
    return {
      lost,
      damage: [...damage, ...holes.map(({ conversation, number }) => `a hole before ${conversation} ${number}`)],
    };
  } finally {
    database.close();
  }
}

/** Describes what a database has lost. `when` begins each text. */
export function describeLoss(when: string, path: string, told: readonly ToldItem[]): readonly string[] {
  try {
    const { lost, damage } = compareItems(path, told);
    const items = lost.map(({ conversation, number }) => `${when}: item ${conversation}/${number} is lost`);
    return [...items, ...damage.map((text) => `${when}: ${text}`)];
  } catch (error) {
    return [`${when}: ${error instanceof Error ? error.message : String(error)}`];
  }
}
