/**
 * A question as a tool call of the assistant, and its answer as a tool message. This is the way in which OpenAI's API lets a
 * model ask its client for something.
 */
import type { ConnectorQuestion } from '@goondan/types';
import { isObject } from '../../json/is-object.ts';
import { type ReplyFields, readReply } from '../../web/read-reply.ts';

const PREFIX = 'call_';
const approvals: ReadonlySet<string> = new Set(['yes', 'y', 'ok', 'approve', 'approved']);
const refusals: ReadonlySet<string> = new Set(['no', 'n', 'deny', 'denied']);

export interface QuestionCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** `approve_call` needs a yes or a no; `ask_person` needs a filled form, or a person who opens a page. */
export function toCall(question: ConnectorQuestion): QuestionCall {
  const { id, digest, kind, agent, askedBy, reason, toolName: tool, args, schema, url, expiresAt } = question;
  const isApproval = kind === 'call' || kind === 'change' || kind === 'budget';
  const subject = isApproval ? { tool, arguments: args } : {};
  // A field without a value is left out.
  const shown = { id, digest, kind, agent, askedBy, reason, ...subject, schema, url, expiresAt };
  return {
    id: `${PREFIX}${id}`,
    type: 'function',
    function: { name: isApproval ? 'approve_call' : 'ask_person', arguments: JSON.stringify(shown) },
  };
}

/** Returns the id of the question of a tool call. */
export function questionIdOf(callId: string): string {
  return callId.startsWith(PREFIX) ? callId.slice(PREFIX.length) : callId;
}

/** `wait`: the client answers nothing, and gets the rest of the turn when somebody else has answered. */
export type ToolAnswer =
  | { readonly type: 'wait' }
  | { readonly type: 'reply'; readonly reply: ReplyFields & { readonly digest?: string } }
  | { readonly type: 'problem'; readonly problem: string };

/** Reads the content of a tool message: `{ "decision": … }`, or a word such as `yes` or `no`. */
export function readToolAnswer(text: string): ToolAnswer {
  const word = text.trim().toLowerCase();
  if (word === '' || word === 'wait') return { type: 'wait' };
  if (approvals.has(word)) return { type: 'reply', reply: { decision: 'approved' } };
  if (refusals.has(word)) return { type: 'reply', reply: { decision: 'denied' } };
  const fields = parse(text);
  if (!isObject(fields)) {
    return { type: 'problem', problem: 'it must be yes, no, or a JSON object with `decision`' };
  }
  const { digest, ...others } = fields;
  if (others.decision === 'wait') return { type: 'wait' };
  if (digest !== undefined && typeof digest !== 'string')
    return { type: 'problem', problem: '`digest` must be a text' };
  const reply = readReply(others);
  if ('problem' in reply) return { type: 'problem', problem: reply.problem };
  return { type: 'reply', reply: { ...reply, ...(digest === undefined ? {} : { digest }) } };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
