import type { ApprovalOutcome } from '@goondan/types';
import { type FieldsOf, oneOf, optional, text } from './shape.ts';

export const approvalOutcomeFields = {
  decision: oneOf('approved', 'denied', 'expired'),
  by: optional(text),
  note: optional(text),
} satisfies FieldsOf<ApprovalOutcome>;
