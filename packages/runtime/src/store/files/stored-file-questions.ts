/** The questions of a workspace whose swarm does not run. Only for the owner of the workspace. */
import type { AgentAddress } from '@goondan/types';
import { systemClock } from '../../ports/clock.ts';
import { systemFs } from '../../ports/fs.ts';
import { systemProcesses } from '../../ports/processes.ts';
import { isGrant } from '../../questions/grant-summary.ts';
import type { AnsweredQuestion } from '../../questions/question-record.ts';
import type { JournalLocation } from '../../workspace/layout/instance-paths.ts';
import { QuestionFile } from '../../workspace/questions/question-file.ts';
import type { StoreWarning } from '../../workspace/store-ports.ts';
import { type StoredQuestions, storedQuestions } from '../stored-questions.ts';
import { migrateOld } from './migrate-old.ts';

export interface StoredFileOptions extends JournalLocation {
  readonly warn?: (warning: StoreWarning) => void;
  /** Throws if another process owns the workspace. */
  readonly fence: () => void;
}

/** Opens the questions, and migrates the files of an older version first. **Errors** — those of the disk. */
export async function openStoredQuestions(options: StoredFileOptions): Promise<StoredQuestions> {
  const { fence } = options;
  const ports = portsOf(options);
  await migrateOld(ports, options);
  const file = await QuestionFile.open(ports, options);
  const fenced = {
    list: () => file.list(),
    async answer(record: AnsweredQuestion) {
      fence();
      return file.answer(record);
    },
    async remove(id: string) {
      fence();
      await file.remove(id);
    },
  };
  return { ...storedQuestions(fenced, systemClock), close: () => file.close() };
}

/** Removes the answers for always of a conversation that is going to be deleted. **Errors** — those of the disk. */
export async function endStoredGrants(options: StoredFileOptions, at: AgentAddress): Promise<void> {
  const file = await QuestionFile.open(portsOf(options), options);
  try {
    for (const record of await file.list()) {
      if (!isGrant(record) || record.agent !== at.agentName || record.instanceKey !== at.instanceKey) continue;
      options.fence();
      await file.remove(record.id);
    }
  } finally {
    await file.close();
  }
}

function portsOf({ warn = () => undefined }: StoredFileOptions) {
  return { fs: systemFs, clock: systemClock, processes: systemProcesses, warn };
}
