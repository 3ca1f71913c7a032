/**
 * Measures the ways to make a line durable on the disk of a folder, in turns, and prints their medians.
 *
 * bun scripts/measure-syncs.ts [FOLDER]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemFs } from '../packages/runtime/src/ports/fs.ts';

const ROUNDS = 1000;
const LINE = new TextEncoder().encode(`${'x'.repeat(399)}\n`);

const folder = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'goondan-syncs-'));
const appended = await systemFs.openFile(join(folder, 'appended'));
const room = await systemFs.openRoom(join(folder, 'room'));
await room.extend(2 * ROUNDS * LINE.length);
await room.sync();

let end = 0;
const ways = {
  'append and fdatasync': async () => {
    await appended.append(LINE);
    await appended.sync();
  },
  'write into room and fdatasync': async () => {
    await room.write(end, LINE);
    end += LINE.length;
    await room.sync();
  },
  'write through into room (O_DSYNC)': async () => {
    await room.writeThrough(end, LINE);
    end += LINE.length;
  },
};
const times = new Map<string, number[]>(Object.keys(ways).map((name) => [name, []]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [name, write] of Object.entries(ways)) {
    const startedAt = performance.now();
    await write();
    times.get(name)?.push((performance.now() - startedAt) * 1000);
  }
}
await appended.close();
await room.close();
rmSync(folder, { recursive: true });
for (const [name, all] of times) {
  const sorted = all.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(0).padStart(6);
  console.log(`${name.padEnd(36)} median ${at(0.5)} µs   p10 ${at(0.1)} µs   p90 ${at(0.9)} µs`);
}
