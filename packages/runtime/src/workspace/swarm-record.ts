/**
 * Which swarm last ran in a workspace, for lists of workspaces that nobody runs. Kept in `<workspace>/swarm.json`; nothing
 * reads it to run a swarm, so what goes wrong with it is warned about and no more.
 */
import { readFileSync, statSync } from 'node:fs';
import { GoondanError } from '@goondan/types';
import { type Check, name, object } from '../ipc/check/shape.ts';
import { type Fs, systemFs } from '../ports/fs.ts';
import type { JournalLocation } from './journal/instance-slots.ts';
import { swarmRecordPath, workspaceFolder } from './layout/instance-paths.ts';
import { codedFs } from './lines/coded-fs.ts';
import { replaceFile } from './lines/replace-file.ts';
import type { StoreWarning } from './store-ports.ts';

export interface SwarmRecord {
  readonly swarm: string;
}

export interface SwarmRecorder extends JournalLocation {
  readonly fs?: Fs;
  /** Must not throw. */
  readonly warn: (warning: StoreWarning) => void;
}

const FORMAT_VERSION = 1;
/** Longer ones are not ours. */
const LONGEST_FILE = 4_096;

/** Only for whoever owns the workspace. Never rejects. One that says the same already is left alone. */
export async function recordSwarm({ fs = systemFs, warn, ...place }: SwarmRecorder, swarm: string): Promise<void> {
  if (readSwarmRecord(place)?.swarm === swarm) return;
  const path = swarmRecordPath(workspaceFolder(place.stateRoot, place.workspaceId));
  const line = JSON.stringify({ formatVersion: FORMAT_VERSION, swarm });
  try {
    await replaceFile(codedFs(fs), path, new TextEncoder().encode(`${line}\n`));
  } catch (error) {
    warn({ path, message: error instanceof GoondanError ? error.message : String(error) });
  }
}

/** `undefined` when none ran there since these are kept, or the file is not one of ours. */
export function readSwarmRecord({ stateRoot, workspaceId }: JournalLocation): SwarmRecord | undefined {
  const path = swarmRecordPath(workspaceFolder(stateRoot, workspaceId));
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || !stats.isFile() || stats.size > LONGEST_FILE) return undefined;
    return swarmRecord(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    // It is only for show: a damaged one is as good as none.
    return undefined;
  }
}

const swarmRecord: Check<SwarmRecord> = object({ swarm: name });
