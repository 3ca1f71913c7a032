/** Answers that people gave for always. */
import { type AlwaysScope, GoondanError, hostOf, type JsonObject } from '@goondan/types';
import { defined } from '../json/defined.ts';
import { digestJson } from '../json/digest-json.ts';
import { isSameJson } from '../json/same-json.ts';
import type { QuestionReply } from './check-reply.ts';
import type { Asking, QuestionRecord } from './question-record.ts';

/** An answer that a person gave for always, in one conversation, as people see it. */
export interface GrantSummary {
  /** The id of the question that was answered. */
  readonly id: string;
  readonly agent: string;
  readonly instanceKey: string;
  readonly toolName: string;
  readonly always: AlwaysScope;
  /** `arguments`: the allowed ones, with secrets masked. */
  readonly args?: JsonObject;
  /** `host`: the allowed host, with scheme and port. */
  readonly host?: string;
  readonly askedBy?: Asking;
  /** The words of the question. */
  readonly reason: string;
  /** The person who allowed it. */
  readonly by?: string;
  readonly via?: string;
  readonly decidedAt: string;
}

export interface GrantRevocation {
  readonly id: string;
  /** The name of the person who revokes it, for the log. */
  readonly by: string;
  /** The door through which they do, for the log. */
  readonly via?: string;
}

/** The maximum number of grants of one conversation. */
export const MOST_GRANTS = 64;

/** Returns true if the answer stays valid for later questions. */
export function isGrant({ answer }: QuestionRecord): boolean {
  return answer?.decision === 'approved' && answer.always !== undefined;
}

/** Returns true if the grant `record` allows a call of its conversation that a question is about. */
export function allows(
  record: QuestionRecord,
  asked: Pick<QuestionRecord, 'kind' | 'toolName' | 'fingerprint' | 'askedBy' | 'digest' | 'root' | 'args' | 'schema'>,
): boolean {
  const isSameTool =
    asked.kind === 'call' &&
    asked.fingerprint !== undefined &&
    isGrant(record) &&
    record.kind === 'call' &&
    record.toolName === asked.toolName &&
    record.fingerprint === asked.fingerprint &&
    isSameJson(record.askedBy ?? null, asked.askedBy ?? null);
  if (!isSameTool || !isOfGiver(record, asked.root)) return false;
  const { always, args } = record.answer ?? {};
  if (always === 'tool') return true;
  if (always === 'host') {
    const host = grantedHost(record);
    return host !== undefined && host === hostOf(asked);
  }
  // The person may have allowed other arguments than those that were asked about.
  return asked.digest === (args === undefined ? record.digest : digestJson(args));
}

function grantedHost({ answer, args, schema }: QuestionRecord): string | undefined {
  return hostOf({ args: answer?.args ?? args, ...defined({ schema }) });
}

/** Returns false if a client of a connection gave the answer, and did not begin the turn that asks now. */
export function isOfGiver({ root: own, answer }: QuestionRecord, root: QuestionRecord['root']): boolean {
  // Only the answers of a connection end with its name.
  if (own === undefined || answer?.by?.endsWith(`@${own.connection}`) !== true) return true;
  return own.connection === root?.connection && isSameJson(own.auth ?? null, root.auth ?? null);
}

/** Returns a grant for people; `undefined` if the record is none. */
export function grantOf(record: QuestionRecord): GrantSummary | undefined {
  const { id, agent, instanceKey, toolName, askedBy, reason, answer } = record;
  if (!isGrant(record) || answer?.always === undefined) return undefined;
  const { always, by, via, decidedAt } = answer;
  const args = always === 'arguments' ? (answer.args ?? record.args) : undefined;
  const host = always === 'host' ? grantedHost(record) : undefined;
  return { id, agent, instanceKey, toolName, always, reason, decidedAt, ...defined({ askedBy, args, host, by, via }) };
}

/** Returns the problem of an answer for always, if its conversation has too many. `own`: the records of the conversation. */
export function findGrantProblem(
  own: readonly QuestionRecord[],
  { id, always }: QuestionReply,
): GoondanError | undefined {
  if (always === undefined || own.filter(isGrant).length < MOST_GRANTS) return undefined;
  const message = `The answer to the question "${id}" does not fit: ${MOST_GRANTS} answers of this conversation are for always already.`;
  return new GoondanError('E_QUESTION_REPLY', message, { suggestion: 'Revoke one of them, or answer without always.' });
}

export function unknownGrant(id: string): GoondanError {
  return new GoondanError('E_QUESTION_UNKNOWN', `Nothing is always allowed under the id "${id}".`);
}
