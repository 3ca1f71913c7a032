import type { QuestionRecord } from './question-record.ts';

/** Returns true if the answer to `answered` is also that of `other`: both ask for the same raise of the same budget. */
export function isAnsweredWith(other: QuestionRecord, answered: QuestionRecord): boolean {
  const isBudget = answered.kind === 'budget' && other.kind === 'budget';
  return isBudget && other.id !== answered.id && other.answer === undefined && other.digest === answered.digest;
}
