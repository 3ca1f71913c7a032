import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE, openWorkspace } from '../sqlite/open-workspace.ts';
import { writeItems } from './kill-writers.ts';
import { cutPower, type DiskEvent, readTrace, straceArguments } from './recorded-disk.ts';
import { describeLoss, readTold } from './told-items.ts';

export interface CutReport {
  readonly events: number;
  readonly syncs: number;
  readonly problems: readonly string[];
  /** Those of a disk that ignores the syncs of the log. There must be some. */
  readonly mutant: readonly string[];
}

const ROUNDS = '60';
const MUTANT_CUTS = 100;
/** Every so many disks are opened as their next owner would. All others are only read. */
const OPENED = 5;

/** Records one writer with `strace`, and cuts the power of its disk at random moments. */
export async function cutWriter(folder: string, times: number): Promise<CutReport> {
  const home = join(folder, 'recorded');
  mkdirSync(home);
  const trace = join(folder, 'trace.txt');
  const writer = [process.execPath, writeItems, home, ROUNDS];
  const { success, stderr } = Bun.spawnSync(['strace', ...straceArguments, trace, ...writer]);
  if (!success) throw new Error(`strace failed: ${stderr.toString().slice(0, 500)}`);
  const events = readTrace(readFileSync(trace, 'utf8'));
  const tryMany = async (count: number, ignored?: 'log') => {
    const problems: string[] = [];
    for (let number = 0; number < count; number += 1) problems.push(...(await tryCut(folder, events, number, ignored)));
    return problems;
  };
  return {
    events: events.length,
    syncs: events.filter(({ kind }) => kind === 'synced').length,
    problems: await tryMany(times),
    mutant: await tryMany(MUTANT_CUTS, 'log'),
  };
}

async function tryCut(
  folder: string,
  events: readonly DiskEvent[],
  number: number,
  ignored?: 'log',
): Promise<readonly string[]> {
  const start = events.findIndex((event) => event.kind === 'told' && event.text === 'start\n');
  const length = start + Math.floor(Math.random() * (events.length - start));
  const share = [0, 0.5, 1, Math.random()][number % 4] ?? 0;
  const { database, log } = cutPower(events, length, () => Math.random() < share, ignored);
  const home = mkdtempSync(join(folder, 'cut-'));
  const path = join(home, DATABASE);
  writeFileSync(path, database);
  writeFileSync(`${path}-wal`, log);
  const texts = events.slice(start, length).map((event) => (event.kind === 'told' ? event.text : ''));
  const told = readTold(texts.join('')).filter(({ isDurable }) => isDurable);
  const when = `cut ${number} after ${length} events`;
  const problems = [...(number % OPENED === 0 ? await reopen(when, home) : []), ...describeLoss(when, path, told)];
  rmSync(home, { recursive: true });
  return problems;
}

/** Opens a database as its next owner. */
async function reopen(when: string, home: string): Promise<readonly string[]> {
  try {
    const workspace = await openWorkspace(home, { report: () => undefined });
    await workspace.close();
    return workspace.wasLeft || workspace.epoch > 1 ? [] : [`${when}: the next owner found a new database`];
  } catch (error) {
    return [`${when}: ${error instanceof Error ? error.message : String(error)}`];
  }
}
