import { durableStore, type DurableStoreOptions } from '../../workspace/journal/durable-store.ts';
import type { Journal } from '../../workspace/journal/journal.ts';
import type { AgentBlobs } from '../blobs.ts';
import type { AgentStore } from '../store.ts';
import { fileBlobs } from './file-blobs.ts';
import { answersOf } from './journal-seams.ts';

/**
 * Opens the files of a workspace for an agent process. On one machine the process writes its files itself. The
 * orchestrator has made the workspace.
 */
export async function openAgentStore(options: DurableStoreOptions): Promise<AgentStore> {
  return agentStoreOf(await durableStore({ ...options, mayMakeWorkspace: false }), fileBlobs(options, options.fs));
}

/** Returns the seams of an agent process over an open journal. */
export function agentStoreOf(journal: Journal, blobs: AgentBlobs): AgentStore {
  return {
    conversations: journal,
    answers: answersOf(journal),
    blobs,
    traceSink: { open: (instance) => journal.openTraces(instance) },
    eventSink: { open: (instance) => journal.openRuntimeEvents(instance) },
    close: (instance) => journal.close(instance),
  };
}
