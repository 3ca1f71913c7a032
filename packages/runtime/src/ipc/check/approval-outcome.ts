import type { ApprovalOutcome } from '@goondan/types';
import type { QuestionOutcome } from '../../questions/question-record.ts';
import { type FieldsOf, jsonObject, name, number, oneOf, optional, text } from './shape.ts';

export const approvalOutcomeFields = {
  decision: oneOf('approved', 'denied', 'expired'),
  by: optional(text),
  via: optional(text),
  note: optional(text),
  args: optional(jsonObject),
} satisfies FieldsOf<ApprovalOutcome>;

export const questionOutcomeFields = {
  ...approvalOutcomeFields,
  content: optional(jsonObject),
  seen: optional(jsonObject),
  grant: optional(name),
  afterMs: optional(number),
} satisfies FieldsOf<QuestionOutcome>;
