/** Administration of instances that also takes care of the questions of their turns. */
import type { AgentAddress } from '@goondan/types';
import type { Journal } from '../../workspace/journal/journal.ts';
import type { QuestionFile } from '../../workspace/questions/question-file.ts';
import type { InstanceAdmin } from '../instance-admin.ts';

/**
 * Wraps the administration of conversations. `use` gives the file of questions to its argument.
 *
 * A deletion removes the questions and the answers for always when nothing can refuse it any more, and before it removes the
 * conversation. So a refused deletion changes nothing, and after a crash no question is left without its conversation. A
 * conversation that such a crash leaves asks again.
 */
export function withQuestions(
  journal: Pick<Journal, keyof InstanceAdmin>,
  use: (work: (file: QuestionFile) => Promise<void>) => Promise<void>,
): InstanceAdmin {
  return {
    reset: (instance, ending) => journal.reset(instance, ending),
    has: (instance) => journal.has(instance),
    delete: (instance, options) =>
      journal.delete(instance, options, () => use((file) => removeQuestions(file, instance))),
    fork: (from, options) => journal.fork(from, options),
    sweep: () => journal.sweep(),
  };
}

async function removeQuestions(file: QuestionFile, { agentName, instanceKey }: AgentAddress): Promise<void> {
  const own = (await file.list()).filter((each) => each.agent === agentName && each.instanceKey === instanceKey);
  await Promise.all(own.map(({ id }) => file.remove(id)));
}
