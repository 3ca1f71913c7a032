import type { QuestionReply } from '@goondan/runtime';

/** The answer of a person, without their name. */
export type PersonAnswer = Pick<QuestionReply, 'decision' | 'note' | 'args' | 'content' | 'always'>;
