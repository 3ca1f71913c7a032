/**
 * Erases the traces and runtime events of a deleted instance. Its lines are overwritten with spaces where they are, so
 * that processes can append meanwhile, and so that the positions of other lines stay. The space is freed when the file
 * is deleted.
 */
import type { Fs } from '../../ports/fs.ts';
import { eventsStart, RUNTIME_EVENTS } from '../archive/runtime-events.ts';
import { logsFolder, tracesFolder } from '../layout/instance-paths.ts';
import { listNumbers, numberedPath } from '../lines/shared-log.ts';
import { indexPath, readBlocks, TRACES, writeIndexes } from './trace-index.ts';
import { readTraceName, whenOf } from './trace-names.ts';

interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * Erases all records of an instance up to the time of its deletion. A conversation that begins later under the same key
 * keeps its records. `instance`: the name of the instance's folder.
 */
export async function eraseRecords(fs: Fs, workspace: string, instance: string, deletedAt: Date): Promise<void> {
  const traces = tracesFolder(workspace);
  let hasIndex = false;
  for (const number of await listNumbers(fs, traces, TRACES)) {
    const blocks = (await readBlocks(fs, traces, number)).filter(
      ({ turn, instance: owner }) => owner === instance && (readTraceName(turn)?.when ?? '') <= whenOf(deletedAt),
    );
    await overwrite(fs, numberedPath(traces, TRACES, number), blocks);
    await otherWork();
    if (blocks.length === 0 || (await fs.stat(indexPath(traces, number))) === undefined) continue;
    await fs.remove(indexPath(traces, number));
    await writeIndexes(fs, traces, [number]);
    hasIndex = true;
  }
  // After a power loss, the removed index must not come back.
  if (hasIndex) await fs.syncFolder(traces);
  const logs = logsFolder(workspace);
  for (const number of await listNumbers(fs, logs, RUNTIME_EVENTS)) {
    const path = numberedPath(logs, RUNTIME_EVENTS, number);
    await overwrite(fs, path, findEvents(await fs.read(path), instance, deletedAt));
    await otherWork();
  }
}

/** Lets the process do other work between two files, because searching a file takes a few milliseconds. */
function otherWork(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

function findEvents(given: Uint8Array | undefined, instance: string, deletedAt: Date): Range[] {
  if (given === undefined) return [];
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  const start = Buffer.from(`\n${eventsStart(instance)}`);
  const found: Range[] = [];
  for (let at = bytes.indexOf(start); at !== -1; at = bytes.indexOf(start, at + 1)) {
    const end = bytes.indexOf(10, at + 1);
    const to = end === -1 ? bytes.length : end + 1;
    const [, time = ''] = /^"time":"([^"]+)"/.exec(bytes.toString('utf8', at + start.length, to)) ?? [];
    if (time <= deletedAt.toISOString()) found.push({ from: at + 1, to });
  }
  return found;
}

/** Overwrites ranges that end with a line break, but not the line break. */
async function overwrite(fs: Fs, path: string, ranges: readonly Range[]): Promise<void> {
  if (ranges.length === 0) return;
  const room = await fs.openRoom(path);
  try {
    for (const { from, to } of ranges) await room.write(from, new Uint8Array(Math.max(0, to - 1 - from)).fill(0x20));
    await room.sync();
  } finally {
    await room.close();
  }
}
