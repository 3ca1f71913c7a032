import type { Asking } from '../../questions/question-record.ts';
import { type Check, type FieldsOf, name, object, optional } from './shape.ts';

/** The part of an agent that asks a question. */
export const asking: Check<Asking> = object({
  extension: optional(name),
  server: optional(name),
} satisfies FieldsOf<Asking>);
