/** The questions of a workspace whose swarm does not run. Only for the owner of the workspace. */
import { readQuestions } from '../../ipc/check/stored-question.ts';
import { systemClock } from '../../ports/clock.ts';
import { systemFs } from '../../ports/fs.ts';
import { systemProcesses } from '../../ports/processes.ts';
import type { AnsweredQuestion } from '../../questions/question-record.ts';
import { type JournalLocation, questionsPath, workspaceFolder } from '../../workspace/layout/instance-paths.ts';
import { readQueue } from '../../workspace/lines/durable-queue.ts';
import { QuestionFile } from '../../workspace/questions/question-file.ts';
import type { StoreWarning } from '../../workspace/store-ports.ts';
import { type StoredQuestions, storedQuestions } from '../stored-questions.ts';
import { type RepairReport, repairReport } from './repair-report.ts';

export interface StoredFileOptions extends JournalLocation {
  readonly warn?: (warning: StoreWarning) => void;
  /** Throws if another process owns the workspace. */
  readonly fence: () => void;
}

/** Opens the questions. Damage is reported. **Errors** — those of the disk. */
export async function openStoredQuestions(options: StoredFileOptions): Promise<StoredQuestions> {
  const report = repairReport(options);
  try {
    return await openReported(options, report);
  } catch (error) {
    await report.close();
    throw error;
  }
}

async function openReported(options: StoredFileOptions, report: RepairReport): Promise<StoredQuestions> {
  const { fence } = options;
  const ports = portsOf(report);
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
  return {
    ...storedQuestions(fenced, systemClock),
    async close() {
      await file.close();
      await report.close();
    },
  };
}

/**
 * Returns the questions of a stopped workspace for a program that only shows them. It takes no lock, and changes nothing.
 * **Errors** of the methods — `E_STORE_CORRUPT`, `E_STORE_READ`.
 */
export function readStoredQuestions(
  options: Omit<StoredFileOptions, 'fence'>,
): Pick<StoredQuestions, 'questions' | 'grants'> {
  const { stateRoot, workspaceId } = options;
  const path = questionsPath(workspaceFolder(stateRoot, workspaceId));
  const list = async () => {
    const ports = portsOf(options);
    const stored = (await readQueue(ports, path)).map(({ key, value }) => ({ id: key, value }));
    return readQuestions(stored, 'the file of questions', ({ code, message }) =>
      ports.warn({ path, message: `${code}: ${message}` }),
    );
  };
  // Nothing answers or removes a question through this store.
  const store = { list, answer: () => Promise.resolve(false), remove: () => Promise.resolve() };
  const { questions, grants } = storedQuestions(store, systemClock);
  return { questions, grants };
}

function portsOf({ warn = () => undefined }: Pick<StoredFileOptions, 'warn'>) {
  return { fs: systemFs, clock: systemClock, processes: systemProcesses, warn };
}
