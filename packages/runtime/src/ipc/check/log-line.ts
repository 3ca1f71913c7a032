import type { LogLine } from '../../ports/log-line.ts';
import { codePlace } from './code-place.ts';
import { type Check, type FieldsOf, json, name, object, oneOf, optional, text } from './shape.ts';

export const logLine: Check<LogLine> = object({
  time: name,
  level: oneOf('debug', 'info', 'warn', 'error'),
  message: text,
  node: optional(text),
  agent: optional(text),
  instance: optional(text),
  connection: optional(text),
  extension: optional(text),
  turnId: optional(text),
  traceId: optional(text),
  event: optional(text),
  place: optional(codePlace),
  data: optional(json),
} satisfies FieldsOf<LogLine>);
