/**
 * A question of a server to a person, and its answer, in the words of the protocol (`elicitation/create`). The question is
 * untrusted data.
 */
import type { JsonObject, JsonValue } from '@goondan/types';
import { isObject } from '../../json/is-object.ts';

export type ServerQuestion =
  | { readonly mode: 'form'; readonly message: string; readonly requestedSchema: JsonObject }
  | { readonly mode: 'url'; readonly message: string; readonly url: string };

export interface ServerAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** The filled form. */
  readonly content?: JsonObject;
  /** The reason of a person who declined, for the agent. The server does not get it. */
  readonly note?: string;
}

/**
 * Answers a question of a server. The signal withdraws the question: the server, or its call, no longer needs an answer.
 * **Errors** — `E_MCP_QUESTION`, and those of `ctx.person.ask`.
 */
export type AnswerQuestion = (question: ServerQuestion, signal: AbortSignal) => Promise<ServerAnswer>;

/** Checks the shape of a question. Returns `undefined` if it is none. */
export function readQuestion(value: unknown): ServerQuestion | undefined {
  // The cast is safe: a question came as JSON.
  const question = value as JsonValue | undefined;
  if (!isObject(question) || typeof question.message !== 'string') return undefined;
  const { mode = 'form', message, requestedSchema, url } = question;
  if (mode === 'url') return typeof url === 'string' ? { mode, message, url } : undefined;
  return mode === 'form' && isObject(requestedSchema) ? { mode, message, requestedSchema } : undefined;
}

/** Checks the shape of an answer. Anything else counts as no answer. */
export function readAnswer(value: JsonValue | undefined): ServerAnswer {
  const { action, content, note } = isObject(value) ? value : {};
  if (action === 'decline') return typeof note === 'string' ? { action, note } : { action };
  if (action !== 'accept') return { action: 'cancel' };
  return isObject(content) ? { action, content } : { action };
}
