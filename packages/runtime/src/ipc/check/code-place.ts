import type { CodePlace } from '@goondan/types';
import { type Check, count, type FieldsOf, object, text } from './shape.ts';

export const codePlace: Check<CodePlace> = object({
  file: text,
  line: count,
  column: count,
} satisfies FieldsOf<CodePlace>);
