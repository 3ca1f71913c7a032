/** Handles tool messages of a client: answers the questions of the agent, and finds the turn that continues. */
import type { ConnectorContext, ConnectorEvent } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { describeReplyProblem } from '../../web/read-reply.ts';
import type { AskedTurns, ShownQuestion } from './asked-turns.ts';
import type { Conversations, Place } from './conversations.ts';
import { questionIdOf, readToolAnswer } from './question-call.ts';
import type { ChatRequest, ToolMessage } from './read-chat.ts';

/** A turn that a request begins or continues. */
export interface ChatTurn {
  readonly place: Place;
  readonly event: ConnectorEvent;
  readonly agent: string;
  /** True if the client named the conversation. */
  readonly isNamed: boolean;
  /** The ids of questions that the client leaves to somebody else. */
  readonly passed?: readonly string[];
}

/**
 * Answers the questions and returns the turn. A client that repeats its request, because it did not get the response,
 * answers nothing twice. **Errors** — those of an answer, as a `Refusal` or from the swarm.
 */
export async function continueTurn(
  { questions }: Pick<ConnectorContext, 'questions'>,
  { turns, conversations }: { readonly turns: AskedTurns; readonly conversations: Conversations },
  { answers, earlier, input }: ChatRequest,
  caller: string | undefined,
): Promise<ChatTurn> {
  const client = caller ?? noClient();
  const found = answers.map((answer) => ({ ...answer, shown: findShown(turns, answer, client) }));
  const [{ shown: turn } = noAnswer()] = found;
  if (found.some(({ shown }) => shown.eventId !== turn.eventId)) {
    throw new Refusal(400, 'E_HTTP_BODY', 'The tool messages answer questions of different turns.');
  }
  const passed: string[] = [];
  for (const { shown, text } of found) {
    const answer = readToolAnswer(text);
    if (answer.type === 'problem') throw new Refusal(422, 'E_QUESTION_REPLY', describeReplyProblem(answer.problem));
    if (answer.type === 'wait') passed.push(shown.id);
    if (answer.type === 'wait' || turns.isAnsweredWith(shown, text)) continue;
    await questions.answer({ digest: shown.digest, ...answer.reply, id: shown.id, by: client, auth: { client } });
    turns.answered(shown, text);
  }
  const { agent, conversation, isNamed, eventId: id, properties } = turn;
  return {
    place: conversations.resume({ client, agent }, { conversation, isNamed }, earlier),
    event: { name: 'chat', input, properties, auth: { client }, id },
    agent,
    isNamed,
    passed,
  };
}

function findShown(turns: AskedTurns, { callId }: ToolMessage, client: string): ShownQuestion {
  const id = questionIdOf(callId);
  const shown = turns.find(id);
  if (shown === undefined) throw new Refusal(404, 'E_QUESTION_UNKNOWN', `There is no question "${id.slice(0, 60)}".`);
  if (shown.client === client) return shown;
  throw new Refusal(403, 'E_QUESTION_FORBIDDEN', `The question "${id}" belongs to another client.`);
}

function noClient(): never {
  throw new Refusal(403, 'E_QUESTION_FORBIDDEN', 'Only a client with a token may answer.');
}

function noAnswer(): never {
  throw new Refusal(400, 'E_HTTP_BODY', 'There is no tool message.');
}
