/** One answer can answer several questions. Pure. */
import { defined } from '../json/defined.ts';
import { allows, isOfGiver } from './grant-summary.ts';
import type { QuestionAnswer, QuestionRecord } from './question-record.ts';

/**
 * Returns the answer that `other` gets with the answer to `answered`; `undefined` if it gets none. It gets one if both ask for
 * the same raise of the same budget, or if a person always allowed the call that `other` asks about, while it was open. The
 * answer of a connection's client is valid only for turns that this client began.
 */
export function answerToo(other: QuestionRecord, answered: QuestionRecord): QuestionAnswer | undefined {
  const { answer } = answered;
  if (answer === undefined || other.answer !== undefined || other.id === answered.id) return undefined;
  if (answered.kind === 'budget' && other.kind === 'budget' && other.digest === answered.digest)
    return isOfGiver(answered, other.root) ? answer : undefined;
  const isSameConversation = other.agent === answered.agent && other.instanceKey === answered.instanceKey;
  if (!isSameConversation || !allows(answered, other)) return undefined;
  const { decision, by, via, decidedAt } = answer;
  return { decision, ...defined({ by, via }), grant: answered.id, decidedAt };
}
