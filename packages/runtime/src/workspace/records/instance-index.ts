/**
 * The index of instances: one file of the workspace with the counts and dates of instances, so that a list need not read
 * the files of each instance. It is derived and never synced.
 *
 * A line has the stamp of the files that it describes: their identities, sizes and times. A line whose stamp differs from
 * that of the files is ignored, and the files are read. So a missing, stale or damaged index costs time, and nothing else.
 */
import { basename } from 'node:path';
import type { AgentAddress, JsonObject } from '@goondan/types';
import type { Fs } from '../../ports/fs.ts';
import { unlessThrows } from '../../ports/unless-throws.ts';
import { instanceFolderName, type StoredInstance } from '../layout/instance-paths.ts';
import { SEAL_LENGTH, seal } from '../lines/seal-lines.ts';
import type { LogState } from './log-state.ts';

/** The part of an instance's state that lists show. */
export interface InstanceCounts {
  readonly messages: number;
  readonly deadLetters: number;
  /** The number of the last handled event. */
  readonly inbox: number;
  /** The numbers above `inbox` of events that turns have taken. Absent when there are none. */
  readonly taken?: readonly number[];
  readonly createdAt: string;
  readonly updatedAt: number;
}

export interface IndexEntry extends InstanceCounts, AgentAddress {
  readonly stamp: string;
}

const NEWLINE = 0x0a;

/** The lines of the index by the name of the instance's folder; for each name, the newest line. */
export type InstanceIndex = ReadonlyMap<string, IndexEntry>;

export function countsOf(state: LogState, createdAt: string): InstanceCounts {
  const { messages, letters, inbox, taken, updatedAt } = state;
  return { messages, deadLetters: letters.size, inbox, ...(taken.length > 0 && { taken }), createdAt, updatedAt };
}

/** The time of a file has ticks. A file that changed within this time may change again without another time. */
const QUIET_MS = 50;

/**
 * Makes the entry of an instance; nothing may write to its files meanwhile. `isClosed`: the log has no room, so its size
 * changes with every later frame. Returns `busy` for a log with room that has changed just now, and `undefined` while a
 * turn is open, because its commit changes the entry.
 */
export async function makeEntry(
  stored: StoredInstance,
  state: LogState,
  createdAt: string,
  isClosed: boolean,
): Promise<IndexEntry | 'busy' | undefined> {
  const stamp = await stampOf(stored);
  if (!stamp || (!isClosed && state.open.turnId !== undefined)) return undefined;
  const isQuiet = isClosed || stored.clock.now().getTime() - stamp.changedAt > QUIET_MS;
  return isQuiet ? { ...stored.address, ...countsOf(state, createdAt), stamp: stamp.text } : 'busy';
}

/** Returns the stamp of the files that a summary is read from; `undefined` when there is no log. */
export async function stampOf({ fs, paths }: Pick<StoredInstance, 'fs' | 'paths'>): Promise<Stamp | undefined> {
  const log = await fs.stat(paths.events);
  if (!log) return undefined;
  const metadata = await fs.stat(paths.metadata);
  const text = [log, metadata]
    .map((stat) => (stat ? `${stat.identity} ${stat.size} ${stat.changedAt}` : '-'))
    .join(' ');
  return { text, changedAt: log.changedAt };
}

export interface Stamp {
  readonly text: string;
  /** The time of the last change of the log, in milliseconds. */
  readonly changedAt: number;
}

export function encodeEntry(entry: IndexEntry): string {
  return seal(JSON.stringify(entry));
}

/** Reads the index. Damaged lines are left out. */
export async function readIndex(fs: Fs, path: string): Promise<InstanceIndex> {
  const index = new Map<string, IndexEntry>();
  for (const line of (await readIndexLines(fs, path)).lines) {
    const entry = decodeEntry(line);
    if (entry) index.set(instanceFolderName(entry.agentName, entry.instanceKey), entry);
  }
  return index;
}

/** Returns the lines of the index, without line breaks, and the offset of their end. A file that cannot be read has none. */
export async function readIndexLines(fs: Fs, path: string): Promise<{ lines: string[]; end: number }> {
  const bytes = await fs.read(path).catch(() => undefined);
  if (!bytes) return { lines: [], end: 0 };
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  return { lines: new TextDecoder().decode(bytes.subarray(0, end)).split('\n').slice(0, -1), end };
}

export function decodeEntry(line: string): IndexEntry | undefined {
  const fields = unsealed(line);
  // Safe: the checksum proves that encodeEntry wrote this line.
  return fields && 'stamp' in fields ? (fields as unknown as IndexEntry) : undefined;
}

/** Makes the first line of a compacted index, which has the size of its other lines. */
export function encodeCompactedBytes(bytes: number): string {
  return seal(JSON.stringify({ compactedBytes: bytes }));
}

/** Returns the size from the first line of a compacted index; 0 for any other line. */
export function readCompactedBytes(line: string): number {
  const { compactedBytes } = unsealed(line) ?? {};
  return typeof compactedBytes === 'number' ? compactedBytes : 0;
}

function unsealed(line: string): JsonObject | undefined {
  if (seal(`${line.slice(0, -SEAL_LENGTH)}}`) !== `${line}\n`) return undefined;
  // Safe: only objects are sealed.
  return unlessThrows(() => JSON.parse(line) as JsonObject);
}

/** Returns the entry of an instance if the files have not changed since. */
export async function currentEntry(stored: StoredInstance, index: InstanceIndex): Promise<IndexEntry | undefined> {
  const entry = index.get(basename(stored.paths.folder));
  return entry && (await stampOf(stored))?.text === entry.stamp ? entry : undefined;
}
