/**
 * Handlers for the answers of a person. The person is the user of Studio, whatever the page sends, and the answer is bound
 * to the question that the page showed.
 */
import { findReplyProblem } from '@goondan/runtime/control';
import {
  exactObject,
  isBelowSwarm,
  jsonObject,
  name,
  oneOf,
  optional,
  text,
  unifiedDiff,
} from '@goondan/runtime/internal';
import { alwaysScopes, GoondanError, type JsonObject } from '@goondan/types';
import type { SwarmPlace } from '../../swarm/swarm-place.ts';
import type { CheckedAnswer, Done } from '../contract.ts';
import { checkBody } from '../http/check-body.ts';
import type { StudioHost } from '../studio-host.ts';
import { readQuestions, withQuestions } from './with-questions.ts';

/** `note`: the model reads it. */
const readAnswer = checkBody(
  exactObject({
    id: name,
    digest: name,
    decision: oneOf('approved', 'denied'),
    note: optional(text),
    args: optional(jsonObject),
    content: optional(jsonObject),
    always: optional(oneOf(...alwaysScopes)),
  }),
);

const readRevoke = checkBody(exactObject({ id: name }));

/** **Errors** — `E_APPROVAL_BELOW_AGENT`; those of `answer`, such as `E_QUESTION_ENDED`. */
export async function answerQuestion(host: StudioHost, place: SwarmPlace, body: unknown): Promise<Done> {
  const given = readAnswer(body);
  refuseAgents();
  await withQuestions(host, place, (door) => door.answer({ ...given, ...personOf(host) }));
  return { done: true };
}

/** Finds out whether an answer fits its question, before the person sends it. **Errors** — those of `answer`. */
export async function checkAnswer(host: StudioHost, place: SwarmPlace, body: unknown): Promise<CheckedAnswer> {
  const given = readAnswer(body);
  const { questions: open } = await readQuestions(host, place);
  const question = open.find(({ id }) => id === given.id);
  const problem = findReplyProblem({ ...(question && { question }) }, { ...given, ...personOf(host) });
  if (problem !== undefined) throw problem;
  return { diff: given.args === undefined ? '' : diffOf(question?.args ?? {}, given.args) };
}

/** **Errors** — `E_APPROVAL_BELOW_AGENT`; those of `revoke`. */
export async function revokeGrant(host: StudioHost, place: SwarmPlace, body: unknown): Promise<Done> {
  const { id } = readRevoke(body);
  refuseAgents();
  await withQuestions(host, place, (door) => door.revoke({ id, ...personOf(host) }));
  return { done: true };
}

function personOf({ nameOfPerson }: StudioHost) {
  return { by: nameOfPerson(), via: 'studio' };
}

function refuseAgents(): void {
  if (!isBelowSwarm()) return;
  throw new GoondanError('E_APPROVAL_BELOW_AGENT', 'This Studio was started by an agent. Only a person may answer.');
}

function diffOf(before: JsonObject, after: JsonObject): string {
  return unifiedDiff(
    'arguments',
    ...([before, after].map((args) => `${JSON.stringify(args, null, 2)}\n`) as [string, string]),
  );
}
