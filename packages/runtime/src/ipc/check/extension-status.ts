import type { ExtensionStatus, ExtensionStatusChanged } from '@goondan/types';
import { type Check, count, type FieldsOf, listOf, name, object, oneOf, optional, text } from './shape.ts';

export const extensionStatusFields = {
  state: oneOf('idle', 'connecting', 'connected', 'reconnecting', 'failed'),
  target: optional(text),
  problem: optional(text),
  lines: optional(listOf(text)),
  lost: optional(count),
  tools: optional(listOf(name)),
  withheld: optional(listOf(object({ name: text, problem: text }))),
} satisfies FieldsOf<ExtensionStatus>;

/** A status in the form that an extension reports. */
export const extensionStatus: Check<ExtensionStatus> = object(extensionStatusFields);

/** A status in the form that the runtime reports. */
export const extensionStatusChanged: Check<ExtensionStatusChanged> = object({
  ...extensionStatusFields,
  extension: name,
  agentName: name,
  instanceKey: name,
  timestamp: name,
  since: name,
  turnId: optional(name),
  traceId: optional(name),
} satisfies FieldsOf<ExtensionStatusChanged>);
