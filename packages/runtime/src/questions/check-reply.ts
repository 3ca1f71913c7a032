/**
 * Checks an answer to a question. Every door uses this check: the orchestrator, and a program that answers from disk
 * while no swarm runs. Pure.
 */
import { alwaysScopes, type ErrorCode, GoondanError, hostOf, type JsonObject } from '@goondan/types';
import { defined } from '../json/defined.ts';
import { isObject } from '../json/is-object.ts';
import { findEditProblem } from './find-edit-problem.ts';
import type { QuestionAnswer, QuestionSummary } from './question-record.ts';
import { findContentProblem, LONGEST_FORM, readForm } from './read-form.ts';

/** An answer, as a person gives it through a door. */
export interface QuestionReply extends Omit<QuestionAnswer, 'decidedAt' | 'by' | 'grant'> {
  readonly id: string;
  /** The digest of the question that the person saw. Another one is refused; absent: not compared. */
  readonly digest?: string;
  /** The name of the person, for the record and for the model. */
  readonly by: string;
}

/** A question that has ended, as long as the swarm remembers it. */
export interface EndedQuestion {
  readonly how: 'answered' | 'expired' | 'withdrawn';
  /** The person who answered it. */
  readonly by?: string;
  /** The door through which they did. */
  readonly via?: string;
  /** Present if the answer was for always, and was revoked; `by`: the person who revoked it, if known. */
  readonly revoked?: { readonly by?: string };
}

export interface AnswerableQuestion {
  /** The question; absent if there is none with this id. */
  readonly question?: QuestionSummary;
  /** Present if the question has ended. */
  readonly ended?: EndedQuestion;
  /** True if this channel or this person may not answer the question. */
  readonly isForbidden?: boolean;
}

const LONGEST_NAME = 200;
const LONGEST_NOTE = 16_000;
const LONGEST_ARGUMENTS = 256_000;

/**
 * Returns the error of an answer; `undefined` if it fits. **Errors** — `E_QUESTION_UNKNOWN`, `E_QUESTION_FORBIDDEN`,
 * `E_QUESTION_ENDED`, `E_QUESTION_CHANGED`, `E_QUESTION_REPLY`, checked in this order.
 */
export function findReplyProblem(
  { question, ended, isForbidden = false }: AnswerableQuestion,
  reply: QuestionReply,
): GoondanError | undefined {
  const { id, digest } = reply;
  if (question === undefined && ended === undefined)
    return error(
      'E_QUESTION_UNKNOWN',
      `There is no question "${id}": it was never asked, its call has ended, or it is revoked.`,
    );
  if (isForbidden) return error('E_QUESTION_FORBIDDEN', `The question "${id}" may not be answered from here.`);
  if (ended !== undefined) return endedError(id, ended);
  if (question === undefined) return undefined;
  if (digest !== undefined && digest !== question.digest)
    return error('E_QUESTION_CHANGED', `The question "${id}" is not the one that was shown.`);
  const problem = findFieldProblem(question, reply);
  if (problem === undefined) return undefined;
  return error('E_QUESTION_REPLY', `The answer to the question "${id}" does not fit: ${problem}.`);
}

/** Returns the answer to store. */
export function answerOf({ id: _id, digest: _digest, ...given }: QuestionReply, now: Date): QuestionAnswer {
  const { decision, by, via, note, args, content, always } = given;
  return defined({ decision, by, via, note, args, content, always, decidedAt: now.toISOString() });
}

export function endedError(id: string, ended: EndedQuestion): GoondanError {
  return error('E_QUESTION_ENDED', `The question "${id}" ${describeEnd(ended)}.`);
}

function describeEnd({ how, by, via, revoked }: EndedQuestion): string {
  const door = via === undefined ? '' : ` via ${via}`;
  const giver = by === undefined ? '' : ` by ${by}${door}`;
  if (revoked !== undefined) {
    const revoker = revoked.by === undefined ? '' : ` by ${revoked.by}`;
    return `was answered for always${giver}, which was revoked${revoker} already`;
  }
  if (how === 'answered') return by === undefined ? 'is answered already' : `was answered${giver} already`;
  return how === 'expired' ? 'has expired' : 'is withdrawn: its turn no longer needs an answer';
}

function findFieldProblem(question: QuestionSummary, reply: QuestionReply): string | undefined {
  const { kind } = question;
  const { decision, by, via, note, args, content, always } = reply;
  for (const [field, text, most] of [
    ['by', by, LONGEST_NAME],
    ['via', via ?? 'x', LONGEST_NAME],
    ['note', note ?? 'x', LONGEST_NOTE],
  ] as const) {
    if (typeof text !== 'string' || (field !== 'note' && text.trim() === '')) return `${field} is not a name`;
    if (text.length > most) return `${field} has more than ${most} characters`;
  }
  const isApproved = decision === 'approved';
  if (!isApproved && decision !== 'denied') return 'decision is neither approved nor denied';
  if (args !== undefined && (kind !== 'call' || !isApproved))
    return 'only an approved tool call can have other arguments';
  if (always !== undefined && (kind !== 'call' || !isApproved))
    return 'only an approved tool call can always be allowed';
  if (always !== undefined && !alwaysScopes.includes(always)) return `always is none of ${alwaysScopes.join(', ')}`;
  if (content !== undefined && (kind !== 'form' || !isApproved)) return 'only an answered form has content';
  const problem = args === undefined ? undefined : findArgumentsProblem(question, args);
  if (problem !== undefined) return problem;
  if (always === 'host' && hostOf({ ...question, ...defined({ args }) }) === undefined)
    return 'the call cannot be allowed for its host: it has not exactly one URL, with a host that is written plainly';
  return kind === 'form' && isApproved ? findFormProblem(question, content) : undefined;
}

function findArgumentsProblem({ schema, args: seen }: QuestionSummary, args: JsonObject): string | undefined {
  if (!isObject(args)) return 'args is not an object';
  const size = sizeOf(args);
  if (size > LONGEST_ARGUMENTS) return `args has ${size} bytes; ${LONGEST_ARGUMENTS} are allowed`;
  return findEditProblem(schema, seen, args);
}

function findFormProblem({ schema }: QuestionSummary, content: JsonObject | undefined): string | undefined {
  if (!isObject(content)) return 'content has the filled form, and is missing';
  if (sizeOf(content) > LONGEST_FORM) return `content has more than ${LONGEST_FORM} bytes`;
  const fields = readForm(schema);
  return 'problem' in fields ? fields.problem : findContentProblem(fields, content);
}

function sizeOf(value: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function error(code: ErrorCode, message: string): GoondanError {
  return new GoondanError(code, message);
}
