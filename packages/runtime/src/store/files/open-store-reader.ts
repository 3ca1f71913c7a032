/** Readers over the files of a workspace, for commands and Studio. */
import { type Fs, systemFs } from '../../ports/fs.ts';
import { refuseOtherFormat } from '../../workspace/layout/store-format.ts';
import { durableStore, type DurableStoreOptions } from '../../workspace/journal/durable-store.ts';
import type { Journal } from '../../workspace/journal/journal.ts';
import { readSwarmLog } from '../../workspace/logs/read-swarm-log.ts';
import { readRecording } from '../../workspace/traces/read-recording.ts';
import { readRequests } from '../../workspace/traces/read-requests.ts';
import { listTurns, readTurnTrace } from '../../workspace/traces/read-turn-trace.ts';
import type { StoreReader } from '../store.ts';
import { fileBlobs } from './file-blobs.ts';
import { directoryOf } from './journal-seams.ts';

/**
 * Opens the readers of a swarm, running or stopped. They take no lock, and make no folder of a swarm that never ran.
 * Without `warn`, reports of damaged files go to standard error.
 *
 * **Errors** of the readers — `E_STORE_FORMAT` for files that another version wrote; those of each reader.
 */
export function openStoreReader(place: DurableStoreOptions): StoreReader {
  let checked: Promise<void> | undefined;
  const check = () => (checked ??= refuseOtherFormat(place));
  let opened: Promise<Journal> | undefined;
  const open = () =>
    (opened ??= check().then(() => durableStore({ ...place, fs: withoutNewFolders(place.fs ?? systemFs) })));
  const directory = directoryOf(place, open);
  return {
    inbox: { pendingEntries: async (instance) => (await open()).pendingEntries(instance) },
    deadLetters: { list: async (instance) => (await open()).deadLetters.list(instance) },
    blobs: fileBlobs(place, place.fs),
    history: {
      read: async (instance) => (await open()).read(instance),
      readIntact: async (instance) => (await open()).readIntact(instance),
      history: async (...question) => (await open()).history(...question),
      pending: async (instance) => (await open()).pending(instance),
      openTurn: async (instance) => (await open()).openTurn(instance),
      async *archive(instance) {
        yield* (await open()).archive(instance);
      },
    },
    traces: {
      list: async (options) => (await check(), listTurns(place, options)),
      read: async (id) => (await check(), readTurnTrace(place, id)),
      readRecording: async (id) => readRecording(place, await open(), id),
      readRequests: async (id) => readRequests(place, await open(), id),
    },
    logs: { read: async (question) => (await check(), readSwarmLog(place, question)) },
    directory: { ...directory, exists: async () => (await check(), directory.exists()) },
    usage: { read: async (since) => (await open()).usage(since) },
    close: async () => (await opened)?.close(),
  };
}

function withoutNewFolders(fs: Fs): Fs {
  return {
    ...fs,
    makeFolder: async () => undefined,
    syncFolder: async (path) => {
      if ((await fs.stat(path)) !== undefined) await fs.syncFolder(path);
    },
  };
}
