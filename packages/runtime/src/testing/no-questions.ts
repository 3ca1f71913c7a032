import type { QuestionDoor } from '../ipc/connector-questions.ts';

/** The door of a connection that may not show questions. */
export const noQuestions: QuestionDoor = {
  watch: () => () => undefined,
  answer: async () => undefined,
};
