/** Reads a whole swarm on files, to move it to a store elsewhere. Only for the owner of the workspace. */
import { type AgentAddress, GoondanError } from '@goondan/types';
import { systemClock } from '../../ports/clock.ts';
import { codedFs } from '../../ports/coded-fs.ts';
import { systemFs } from '../../ports/fs.ts';
import { systemProcesses } from '../../ports/processes.ts';
import { encodeTraceLine } from '../../trace/encode-trace-line.ts';
import { QuestionFile } from '../../workspace/questions/question-file.ts';
import type { QuestionRecord } from '../../questions/question-record.ts';
import type { InboxEntry } from '../../workspace/inbox/inbox-line.ts';
import type { InstanceSpending } from '../../usage/spending.ts';
import { readDeletedSpending } from '../../workspace/journal/deleted-spending.ts';
import { durableStore, type DurableStoreOptions } from '../../workspace/journal/durable-store.ts';
import {
  blobsFolder,
  connectionsFolder,
  instancePaths,
  layersFolder,
  type StoredInstance,
  workspaceFolder,
} from '../../workspace/layout/instance-paths.ts';
import { defaultLimits } from '../../workspace/limits.ts';
import { packConnection } from '../../workspace/packs/pack-connection.ts';
import type { StoreWarning } from '../../workspace/store-ports.ts';
import { type RecordedAgent, readDescription } from '../../workspace/swarms/agent-descriptions.ts';
import { isUsed } from '../../workspace/swarms/list-workspaces.ts';
import { readSwarmRecord, type SwarmRecord } from '../../workspace/swarms/swarm-record.ts';
import { traceFiles } from '../../workspace/traces/trace-source.ts';
import { damagedFile } from '../unknown-file.ts';
import { fileBlobs } from './file-blobs.ts';

/** `Log`: the log of an instance, in the form in which the other store keeps it. */
export interface SwarmExport<Log> {
  /** Lists the instances, and the problems with folders whose instance nobody can tell. */
  list(): Promise<{ readonly instances: readonly AgentAddress[]; readonly problems: readonly StoreWarning[] }>;
  /** Reads an instance. **Errors** — `E_STORE_CORRUPT`, and those of reading. */
  read(instance: AgentAddress): Promise<ExportedInstance<Log>>;
  /** Lists the files that an instance uses, by SHA-256. */
  files(instance: AgentAddress): Promise<readonly string[]>;
  /** Reads a file. **Errors** — `E_STORE_CORRUPT`, also when it is missing. */
  readFile(digest: string): Promise<Uint8Array>;
  questions(): Promise<readonly QuestionRecord[]>;
  /** The model calls of deleted conversations. */
  deletedSpending(): Promise<readonly InstanceSpending[]>;
  swarm(): SwarmRecord | undefined;
  descriptions(): AsyncIterable<readonly [agentName: string, description: RecordedAgent]>;
  /** Yields the recorded turns, newest first. */
  traces(): AsyncIterable<ExportedTrace>;
  /** Yields the folders of connections, packed; the error of a folder that cannot be packed. Empty folders are left out. */
  connections(): AsyncIterable<readonly [connection: string, packed: Uint8Array | GoondanError]>;
  close(): Promise<void>;
}

export interface ExportedInstance<Log> {
  /** Absent when the instance has only input. */
  readonly log?: Log;
  readonly pending: readonly InboxEntry[];
}

/** A recorded turn, with the parts of its name. */
export interface ExportedTrace {
  readonly instance: AgentAddress;
  readonly trace: string;
  readonly turn: string;
  readonly at: string;
  /** Whole lines, each with its line break. */
  readonly text: string;
}

/** Refuses a place where no swarm ever ran. **Errors** — `E_SWARM_UNKNOWN`. */
export function refuseUnused(place: { readonly stateRoot: string; readonly workspaceId: string }): void {
  if (isUsed(place)) return;
  const message = `No swarm ever ran in ${workspaceFolder(place.stateRoot, place.workspaceId)}`;
  throw new GoondanError('E_SWARM_UNKNOWN', message, { suggestion: 'Check the state root and the swarm.' });
}

/** Opens the files. `readLog` reads the log of an instance; `undefined` when it has none. **Errors** — those of the disk. */
export async function openExport<Log>(
  options: DurableStoreOptions & { readonly warn: (warning: StoreWarning) => void },
  readLog: (stored: StoredInstance) => Promise<Log | undefined>,
): Promise<SwarmExport<Log>> {
  const { stateRoot, workspaceId, fs = systemFs, clock = systemClock, processes = systemProcesses, warn } = options;
  let hear = warn;
  const ports = { fs, clock, processes, warn: (warning: StoreWarning) => hear(warning) };
  const place = { stateRoot, workspaceId };
  const journal = await durableStore({ ...options, ...ports });
  await journal.openInbox();
  await journal.sweep();
  const blobs = fileBlobs(place, fs);
  await blobs.sweep();
  const coded = { ...ports, fs: codedFs(fs) };
  const workspace = workspaceFolder(stateRoot, workspaceId);
  return {
    async list() {
      const problems: StoreWarning[] = [];
      hear = (warning) => void problems.push(warning);
      try {
        return { instances: await journal.instances(), problems };
      } finally {
        hear = warn;
      }
    },
    async read(address) {
      const paths = instancePaths(workspace, address);
      const log = await readLog({ ...coded, paths, address, limits: { ...defaultLimits, ...options.limits } });
      return { ...(log !== undefined && { log }), pending: await journal.pendingEntries(address) };
    },
    deletedSpending: async () => (await readDeletedSpending(coded, workspace)).spendings,
    files: (instance) => blobs.usedBy(instance),
    async readFile(digest) {
      const bytes = await blobs.get(digest);
      if (bytes === undefined) throw damagedFile(digest, blobsFolder(workspace));
      return bytes;
    },
    async questions() {
      const file = await QuestionFile.open(ports, place);
      try {
        return await file.list();
      } finally {
        await file.close();
      }
    },
    swarm: () => readSwarmRecord(place),
    async *descriptions() {
      for (const name of (await coded.fs.list(layersFolder(workspace))) ?? []) {
        const agentName = agentIn(await coded.fs.read(`${layersFolder(workspace)}/${name}`));
        const description = agentName === undefined ? undefined : await readDescription({ ...place, fs }, agentName);
        if (agentName !== undefined && description) yield [agentName, description];
      }
    },
    async *traces() {
      for await (const recorded of traceFiles({ ...place, fs }).list()) {
        const summary = await recorded.summary();
        if (summary === undefined) continue;
        const text = (await recorded.lines()).map((line) => `${encodeTraceLine(line)}\n`).join('');
        const { agentName, instanceKey } = summary;
        const { trace, turn, when: at } = recorded;
        yield { instance: { agentName, instanceKey }, trace, turn, at, text };
      }
    },
    async *connections() {
      for (const name of (await coded.fs.list(connectionsFolder(workspace))) ?? []) {
        const folder = `${connectionsFolder(workspace)}/${name}`;
        const packed = await pack(coded.fs, folder);
        if (packed !== undefined) yield [name, packed];
      }
    },
    close: () => journal.close(),
  };
}

/** Returns `undefined` for a folder without files. */
async function pack(fs: Pick<typeof systemFs, 'list'>, folder: string): Promise<Uint8Array | GoondanError | undefined> {
  try {
    return (await fs.list(folder))?.length ? packConnection(folder) : undefined;
  } catch (error) {
    if (GoondanError.is(error)) return error;
    return new GoondanError('E_STORE_READ', `${folder} cannot be read: ${String(error)}`, { cause: error });
  }
}

/** Returns the name of the agent in the file of a description. A damaged file counts as missing, as for other readers. */
function agentIn(bytes: Uint8Array | undefined): string | undefined {
  try {
    const read: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const agent = typeof read === 'object' && read !== null && 'agent' in read ? read.agent : undefined;
    return typeof agent === 'string' ? agent : undefined;
  } catch {
    return undefined;
  }
}
