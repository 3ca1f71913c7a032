import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE } from '../sqlite/open-workspace.ts';
import { describeLoss, readReports, readTold, type ToldItem } from './told-items.ts';

export const writeItems = join(import.meta.dir, 'write-items.ts');

/** So that a kill hits any part of a life, also the start. */
const LONGEST_LIFE_MS = 400;
/** How many writers have the same folder, one after the other. */
const LIVES = 10;

export interface KillReport {
  readonly confirmed: number;
  readonly problems: readonly string[];
}

/** Kills writers, and looks after each kill for everything that they confirmed. */
export async function killWriters(folder: string, times: number): Promise<KillReport> {
  const problems: string[] = [];
  let told: ToldItem[] = [];
  let confirmed = 0;
  for (let life = 0; life < times; life += 1) {
    if (life % LIVES === 0) told = [];
    const home = join(folder, `kills-${Math.floor(life / LIVES)}`);
    mkdirSync(home, { recursive: true });
    const child = Bun.spawn([process.execPath, writeItems, home, '1000000'], { stdout: 'pipe', stderr: 'inherit' });
    const output = new Response(child.stdout).text();
    await Bun.sleep(40 + Math.random() * LONGEST_LIFE_MS);
    child.kill('SIGKILL');
    await child.exited;
    const lines = await output;
    const items = readTold(lines);
    confirmed += items.length;
    told.push(...items);
    // A copy, because the next writer must find the files as the killed one left them.
    const copy = mkdtempSync(join(folder, 'copy-'));
    cpSync(home, copy, { recursive: true });
    problems.push(...describeLoss(`life ${life}`, join(copy, DATABASE), told), ...readReports(lines));
    rmSync(copy, { recursive: true });
  }
  return { confirmed, problems };
}
