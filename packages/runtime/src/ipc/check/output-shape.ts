import type { OutputDemand } from '@goondan/types';
import { type Check, count, type FieldsOf, jsonObject, object, optional } from './shape.ts';

/** A demand for an answer, whose schema is checked later. Clients need this file, and not the check of a schema. */
export const outputShape: Check<OutputDemand> = object({
  schema: jsonObject,
  retries: optional(count),
} satisfies FieldsOf<OutputDemand>);
