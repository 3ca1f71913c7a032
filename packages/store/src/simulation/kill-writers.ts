import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE } from '../sqlite/open-workspace.ts';
import { describeLoss, readReports, readTold, type ToldItem } from './told-items.ts';

export const writeItems = join(import.meta.dir, 'write-items.ts');

/** A kill hits any part of a life: every other one comes in this time after the first item, all others after the start. */
const LONGEST_MS = 400;
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
    const confirmedOne = Promise.withResolvers<void>();
    const output = readAll(child.stdout, confirmedOne.resolve);
    if (life % 2 === 0) await Promise.race([confirmedOne.promise, child.exited]);
    await Bun.sleep(Math.random() * LONGEST_MS);
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

async function readAll(stream: ReadableStream<Uint8Array>, onItem: () => void): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of stream) {
    text += decoder.decode(piece, { stream: true });
    if (/^(?:durable|written) .*\n/m.test(text)) onItem();
  }
  return text;
}
