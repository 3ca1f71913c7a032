/** Lists a client's questions, and takes the answers: `GET {path}/questions`, `POST {path}/questions/ID`. */
import type { ConnectorContext, ConnectorQuestion, ConnectorReply } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { type BodyBounds, readJson } from '../../web/read-body.ts';
import { type Advice, FORBIDDEN_ADVICE } from '../../web/refuse.ts';
import { isOfClient } from '../../web/turn-questions.ts';
import { describeReplyProblem, readReply } from '../../web/read-reply.ts';

/** Returns the id in the path of a question; `''` for the list, and `undefined` for any other path. */
export function questionIdOf(path: string, pathname: string): string | undefined {
  const list = listPath(path);
  if (pathname === list) return '';
  const [, id] = /^\/([\w-]{1,100})$/.exec(pathname.slice(list.length)) ?? [];
  return pathname.startsWith(`${list}/`) ? id : undefined;
}

/** Returns the advice for clients of a connection with this path. */
export function adviceOn(path = '/'): Advice {
  const list = `\`GET ${listPath(path)}\``;
  const lists = `${list} lists your open questions. To get the answer of the turn, repeat its request with its id.`;
  return {
    E_QUESTION_CHANGED: `Read the question again with ${list}, and send its digest.`,
    E_QUESTION_ENDED: lists,
    E_QUESTION_FORBIDDEN: FORBIDDEN_ADVICE,
    E_QUESTION_UNKNOWN: lists,
  };
}

function listPath(path: string): string {
  return `${path.replace(/\/$/, '')}/questions`;
}

export async function answerQuestions(
  { questions }: Pick<ConnectorContext, 'questions'>,
  client: string | undefined,
  id: string,
  request: Request,
  bounds: BodyBounds,
): Promise<Response> {
  const method = id === '' ? 'GET' : 'POST';
  if (request.method !== method) {
    throw new Refusal(405, 'E_HTTP_METHOD', `This path takes ${method}, not ${request.method}.`, { Allow: method });
  }
  if (!questions.isAllowed) {
    const message = 'Clients of this connection may not answer questions: it lacks `answersQuestions: true`.';
    throw new Refusal(403, 'E_QUESTION_FORBIDDEN', message);
  }
  if (id === '') {
    const own = questions.list().filter((question) => isOfClient(question, client));
    return Response.json({ questions: own.map(showQuestion) });
  }
  if (client === undefined) throw new Refusal(403, 'E_QUESTION_FORBIDDEN', 'Only a client with a token may answer.');
  await questions.answer(readBodyOf(await readJson(request, bounds), id, client));
  return Response.json({ id, answered: true });
}

/** Returns a question as clients see it. */
export function showQuestion({ auth: _, ...question }: ConnectorQuestion): Omit<ConnectorQuestion, 'auth'> {
  return question;
}

function readBodyOf(body: Readonly<Record<string, unknown>>, id: string, client: string): ConnectorReply {
  const { digest, ...fields } = body;
  if (typeof digest !== 'string') {
    throw new Refusal(422, 'E_QUESTION_REPLY', '`digest` must be the digest of the question that the person saw.');
  }
  const reply = readReply(fields);
  if ('problem' in reply) throw new Refusal(422, 'E_QUESTION_REPLY', describeReplyProblem(reply.problem));
  return { ...reply, id, digest, by: client, auth: { client } };
}
