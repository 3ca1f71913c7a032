import type { QuestionSummary } from '@goondan/runtime';
import { readForm } from '@goondan/runtime/control';
import type { QuestionView } from '../contract.ts';

/** Adds the fields of a form, so that the page does not have to read its schema. */
export function viewQuestion(question: QuestionSummary): QuestionView {
  if (question.kind !== 'form') return question;
  const fields = readForm(question.schema);
  return 'problem' in fields ? question : { ...question, fields };
}
