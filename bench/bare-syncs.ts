/**
 * Bare syncs on the disk of the temporary folder, as contestants beside durable turns: the lower limit of a turn that
 * makes as many syncs. One contestant appends and calls `fdatasync`. The other writes through O_DSYNC into room that was
 * filled with zeros before, so that no sync changes the size of the file.
 */
import { closeSync, constants, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemFs } from '../packages/runtime/src/ports/fs.ts';
import type { Contestant } from './measure.ts';

const line = new TextEncoder().encode(`${'x'.repeat(299)}\n`);
const ROOM = 4 * 1_024 * 1_024;

export interface BareSyncs {
  readonly appended: Contestant;
  readonly intoRoom: Contestant;
  close(): Promise<void>;
}

/** Each operation of a contestant writes a line of 300 bytes and syncs it, `count` times. */
export async function bareSyncs(count: number): Promise<BareSyncs> {
  const folder = mkdtempSync(join(tmpdir(), 'goondan-sync-'));
  const appending = await systemFs.openFile(join(folder, 'appended'));
  const room = zeroFilled(join(folder, 'room'));
  let at = 0;
  return {
    appended: {
      name: `${count} bare syncs: append, fdatasync`,
      async run() {
        for (let sync = 0; sync < count; sync++) {
          await appending.append(line);
          await appending.sync();
        }
      },
    },
    intoRoom: {
      name: `${count} bare syncs: O_DSYNC into zeros`,
      run() {
        for (let sync = 0; sync < count; sync++) {
          if (at + line.length > ROOM) at = 0;
          at += writeSync(room, line, 0, line.length, at);
        }
      },
    },
    async close() {
      await appending.close();
      closeSync(room);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function zeroFilled(path: string): number {
  const plain = openSync(path, 'w');
  writeSync(plain, new Uint8Array(ROOM));
  fsyncSync(plain);
  closeSync(plain);
  return openSync(path, constants.O_WRONLY | constants.O_DSYNC);
}
