/** The checks of questions that a connector shows, and of the answers that it sends. */
import { alwaysScopes, type ConnectorQuestion, type ConnectorReply, type QuestionChange } from '@goondan/types';
import { asking } from './asking.ts';
import { type Check, type FieldsOf, jsonObject, name, object, oneOf, optional, text } from './shape.ts';

const connectorQuestion: Check<ConnectorQuestion> = object({
  id: name,
  agent: name,
  instanceKey: name,
  turnId: name,
  auth: optional(jsonObject),
  kind: oneOf('call', 'change', 'budget', 'form', 'page'),
  askedBy: optional(asking),
  reason: text,
  toolName: name,
  args: jsonObject,
  schema: optional(jsonObject),
  url: optional(text),
  digest: name,
  askedAt: name,
  expiresAt: name,
} satisfies FieldsOf<ConnectorQuestion>);

export const questionChange: Check<QuestionChange> = object({
  state: oneOf('asked', 'answered', 'expired', 'withdrawn'),
  question: connectorQuestion,
  by: optional(text),
  via: optional(text),
} satisfies FieldsOf<QuestionChange>);

export const connectorReply: Check<ConnectorReply> = object({
  id: name,
  digest: optional(name),
  decision: oneOf('approved', 'denied'),
  by: name,
  auth: optional(jsonObject),
  note: optional(text),
  args: optional(jsonObject),
  content: optional(jsonObject),
  always: optional(oneOf(...alwaysScopes)),
} satisfies FieldsOf<ConnectorReply>);
