/** The answer of a person to a question. The chat and the commands ask the same questions. */
import type { QuestionSummary } from '@goondan/runtime';
import { isYes } from '../ask-yes-or-no.ts';

export interface PersonAnswer {
  readonly isApproved: boolean;
  /** A note for the agent. */
  readonly note?: string;
}

/** Returns the question about a tool call, a change of a bundle, or a budget. */
export function promptOf({ kind }: Pick<QuestionSummary, 'kind'>): string {
  return `${prompts[kind]} [y/N, or a reason to deny it] `;
}

const prompts = {
  call: 'Let it run?',
  change: 'Change the bundle?',
  budget: 'Raise the budget?',
  form: 'Answer with an empty form?',
  page: 'Have you opened the page?',
};

/** Yes approves. Everything else denies; a text other than no is the reason. */
export function readPersonAnswer(text: string): PersonAnswer {
  if (isYes(text)) return { isApproved: true };
  const said = text.trim();
  return /^(no?)?$/i.test(said) ? { isApproved: false } : { isApproved: false, note: said };
}
