import type { QuestionSummary } from '@goondan/runtime';

/** Finds the question that a person means: by its own id, or by the id of the changeset that it is about. */
export function findQuestion(questions: readonly QuestionSummary[], id: string): QuestionSummary | undefined {
  const isAbout = ({ kind, args }: QuestionSummary) => kind === 'change' && args['changesetId'] === id;
  return questions.find((question) => question.id === id) ?? questions.find(isAbout);
}
