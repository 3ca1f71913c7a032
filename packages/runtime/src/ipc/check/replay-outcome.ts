import type { Change } from '../../json/diff-json.ts';
import type { Divergence, ReplayOutcome } from '../../trace/replay.ts';
import { type Check, count, type FieldsOf, listOf, name, object, oneOf, optional, text } from './shape.ts';

const change: Check<Change> = object({
  path: text,
  before: optional(text),
  after: optional(text),
} satisfies FieldsOf<Change>);

const divergence: Check<Divergence> = object({
  place: listOf(text),
  extension: optional(name),
  layer: optional(text),
  what: oneOf('message', 'field', 'result', 'outcome', 'gone', 'asked', 'not_asked', 'state', 'hung'),
  message: text,
  changes: listOf(change),
} satisfies FieldsOf<Divergence>);

const halted: Check<ReplayOutcome['halted'] & {}> = object({
  how: oneOf('cancelled', 'left', 'crashed'),
  place: listOf(text),
  layer: optional(object({ extension: name, name: text })),
  error: optional(text),
} satisfies FieldsOf<ReplayOutcome['halted'] & {}>);

export const replayOutcome: Check<ReplayOutcome> = object({
  first: optional(divergence),
  others: count,
  layers: count,
  steps: count,
  served: object({ model: count, tool: count, agent: count, approval: count, budget: optional(count) }),
  stoppedAt: optional(listOf(text)),
  halted: optional(halted),
} satisfies FieldsOf<ReplayOutcome>);
