import { systemClock } from '../../ports/clock.ts';
import { type Fs, systemFs } from '../../ports/fs.ts';
import { systemProcesses } from '../../ports/processes.ts';
import { QuestionFile } from '../../workspace/questions/question-file.ts';
import { CounterFile } from '../../workspace/counters/counter-file.ts';
import { durableStore, type DurableStoreOptions } from '../../workspace/journal/durable-store.ts';
import type { Journal } from '../../workspace/journal/journal.ts';
import type { JournalLocation } from '../../workspace/layout/instance-paths.ts';
import type { StoreWarning } from '../../workspace/store-ports.ts';
import type { Counters } from '../counters.ts';
import type { Placement } from '../placement.ts';
import type { NodeStore } from '../store.ts';
import { withBlobs } from './blob-admin.ts';
import { fileBlobs } from './file-blobs.ts';
import { fileCounters } from './file-counters.ts';
import { directoryOf, inboxOf } from './journal-seams.ts';
import { withQuestions } from './question-admin.ts';

export interface NodeStoreOptions extends Omit<DurableStoreOptions, 'fence' | 'warn'> {
  readonly warn: (warning: StoreWarning) => void;
}

/**
 * Opens the files of a workspace for the node that owns it. `close` leaves the placement as it is. **Errors** — those of
 * the disk.
 */
export async function openNodeStore(
  { fs = systemFs, clock = systemClock, processes = systemProcesses, ...options }: NodeStoreOptions,
  placement: Placement,
): Promise<NodeStore> {
  const ports = { fs, clock, processes, warn: options.warn };
  const journal = await durableStore({ ...options, ...ports, fence: () => placement.check() });
  await journal.openInbox();
  const questions = await QuestionFile.open(ports, options);
  const { file, states } = await CounterFile.open(ports, options);
  const warn = (message: string) => options.warn({ path: file.path, message });
  const counters = fileCounters({ clock, placement, file, states, warn });
  const store = nodeStoreOf(options, { journal, questions, counters }, placement, fs);
  return {
    ...store,
    async close() {
      await file.close();
      await store.close();
    },
  };
}

interface OpenFiles {
  readonly journal: Journal;
  readonly questions: QuestionFile;
  readonly counters: Counters;
}

/** Returns the seams of a node over open files. `close` closes these files. */
export function nodeStoreOf(
  location: JournalLocation,
  { journal, questions, counters }: OpenFiles,
  placement: Placement,
  fs: Fs = systemFs,
): NodeStore {
  const blobs = fileBlobs(location, fs);
  return {
    inbox: inboxOf(journal),
    placement,
    questions,
    blobs,
    counters,
    deadLetters: journal.deadLetters,
    admin: withBlobs(
      withQuestions(journal, (work) => work(questions)),
      blobs,
    ),
    history: journal,
    directory: directoryOf(location, async () => journal),
    async close() {
      await questions.close();
      await journal.close();
    },
  };
}
