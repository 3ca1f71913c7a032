import { durableStore, type DurableStoreOptions } from '../../workspace/journal/durable-store.ts';
import { systemClock } from '../../ports/clock.ts';
import { systemFs } from '../../ports/fs.ts';
import { systemProcesses } from '../../ports/processes.ts';
import { QuestionFile } from '../../workspace/questions/question-file.ts';
import type { NodeStore } from '../store.ts';
import { withBlobs } from './blob-admin.ts';
import { fileBlobs } from './file-blobs.ts';
import { withQuestions } from './question-admin.ts';
import { printWarning } from './repair-report.ts';

/** Opens only the administration of a workspace, for commands that own a stopped swarm for a moment. */
export async function openAdmin(options: DurableStoreOptions): Promise<Pick<NodeStore, 'admin' | 'close'>> {
  const { fs = systemFs, clock = systemClock, processes = systemProcesses, warn = printWarning } = options;
  const journal = await durableStore(options);
  await journal.openInbox();
  const admin = withQuestions(journal, async (work) => {
    const file = await QuestionFile.open({ fs, clock, processes, warn }, options);
    try {
      options.fence?.();
      await work(file);
    } finally {
      await file.close();
    }
  });
  return { admin: withBlobs(admin, fileBlobs(options, fs)), close: () => journal.close() };
}
