/** Handles one chat request, with a complete or a streamed answer. */
import {
  type ConnectorAcceptance,
  type ConnectorAnswer,
  type ConnectorAskOptions,
  type ConnectorContext,
  type ConnectorEvent,
  type TurnDelta,
} from '@goondan/types';
import { encodeEvent, EventStream, Refusal } from '@goondan/types/http';
import { type BodyBounds, readJson, withLimit } from '../../web/read-body.ts';
import { statusOf, statusOfCode, toCoded } from '../../web/refuse.ts';
import { traceParent } from '../../web/trace-parent.ts';
import { type AskingTurn, askUntilQuestion } from '../../web/turn-questions.ts';
import { Waiting } from '../../web/waiting.ts';
import type { AskedTurns } from './asked-turns.ts';
import {
  chunk,
  completion,
  type CompletionHead,
  questionChunks,
  questionCompletion,
  usageChunk,
} from './completion.ts';
import { composeInput } from './compose-input.ts';
import { type ChatTurn, continueTurn } from './continue-turn.ts';
import { type Conversations, DEFAULT_CLIENT } from './conversations.ts';
import { errorShape } from './error-shape.ts';
import type { OpenaiConfig } from './openai-config.ts';
import { toCall } from './question-call.ts';
import { type ChatRequest, readChat } from './read-chat.ts';
import { StreamedText } from './streamed-text.ts';

const LONGEST_ID = 200;

interface Chat extends ChatTurn {
  readonly ctx: ConnectorContext<OpenaiConfig>;
  readonly asked: ChatRequest;
  readonly turns: AskedTurns;
  readonly waiting: Waiting;
}

export async function answerChat(
  ctx: ConnectorContext<OpenaiConfig>,
  chats: { readonly conversations: Conversations; readonly turns: AskedTurns },
  request: Request,
  caller: string | undefined,
  bounds: BodyBounds,
): Promise<Response> {
  const asked = readChat(await readJson(request, withLimit(bounds, ctx.config)), ctx.agents, ctx.questions.isAllowed);
  const named = readId(request, ctx.config.conversationHeader ?? 'x-conversation-id');
  const key = readId(request, 'idempotency-key');
  const turn =
    asked.answers.length > 0
      ? await continueTurn(ctx, chats, asked, caller)
      : beginTurn(ctx, chats.conversations, { asked, caller, named, key });
  const event = { ...turn.event, ...traceParent(request) };
  const waiting = new Waiting(request, ctx.config.timeoutSeconds);
  const chat: Chat = { ctx, asked, turns: chats.turns, ...turn, event, waiting };
  return asked.isStream ? streamChat(chat) : wholeChat(chat);
}

interface NewMessage {
  readonly asked: ChatRequest;
  readonly caller: string | undefined;
  /** The client's own id of the conversation, and its own id of the message. */
  readonly named: string | undefined;
  readonly key: string | undefined;
}

function beginTurn(
  { config, questions }: ConnectorContext<OpenaiConfig>,
  conversations: Conversations,
  { asked, caller, named, key }: NewMessage,
): ChatTurn {
  const client = caller ?? DEFAULT_CLIENT;
  const place = conversations.find({ client, agent: asked.agent }, asked.earlier, asked.said, named);
  // A turn that asks the client continues with another request, which finds the turn by this id.
  const newId = questions.isAllowed ? JSON.stringify([client, null, crypto.randomUUID()]) : undefined;
  const id = key === undefined ? (place.id ?? newId) : JSON.stringify([client, key]);
  const event: ConnectorEvent = {
    name: 'chat',
    input: place.isKnown ? asked.input : composeInput(asked.earlier, asked.input, config),
    ...(asked.content.length === 0 ? {} : { content: asked.content }),
    properties: {
      agent: asked.agent,
      conversation: place.conversation,
      ...(asked.user === undefined ? {} : { user: asked.user }),
    },
    ...(asked.output === undefined ? {} : { output: asked.output }),
    ...(caller === undefined ? {} : { auth: { client: caller } }),
    ...(id === undefined ? {} : { id }),
  };
  return { place, event, agent: asked.agent, isNamed: named !== undefined };
}

async function wholeChat(chat: Chat): Promise<Response> {
  const { asked, place, waiting } = chat;
  try {
    const answer = await ask(chat, {});
    if ('questions' in answer) {
      const { acceptance, questions } = answer;
      const calls = questions.map(toCall);
      return Response.json(questionCompletion(headOf(chat, acceptance), calls), {
        headers: headersOf(asked, acceptance),
      });
    }
    if (answer.error !== undefined) {
      const { code = 'turn_failed', message } = answer.error;
      const status = statusOfCode(code);
      // Tells the client not to retry, because the turn has already used up its retries.
      return Response.json(errorShape(status, code, message), { status, headers: { 'x-should-retry': 'false' } });
    }
    const content = answerText(chat, answer);
    place.answered(content);
    return Response.json(completion(headOf(chat, answer), answer, content), { headers: headersOf(asked, answer) });
  } finally {
    waiting.end();
  }
}

/**
 * Streams the answer. If the request is refused before it is accepted, the client gets a plain error response. Later
 * errors are sent in the stream.
 */
async function streamChat(chat: Chat): Promise<Response> {
  const { asked, place, waiting } = chat;
  const { includesUsage } = asked;
  const stream = new EventStream();
  stream.onOver(() => waiting.leave());
  const accepted = Promise.withResolvers<ConnectorAcceptance>();
  const text = new StreamedText();
  let head: CompletionHead | undefined;
  const say = (data: object | string) => stream.send(encodeEvent(data));
  const sayText = (content: string) => {
    if (head !== undefined && content !== '') say(chunk(head, { content }, { includesUsage }));
  };
  const turn = ask(chat, {
    onAccepted(acceptance) {
      head = headOf(chat, acceptance);
      say(chunk(head, { role: 'assistant', content: '' }, { includesUsage }));
      accepted.resolve(acceptance);
    },
    // Sent text cannot be taken back, so an answer that must fit a schema is sent when it has been checked.
    ...(asked.output === undefined && { onDelta: (delta: TurnDelta) => sayText(text.add(delta)) }),
  });
  void turn
    .then((answer) => {
      if ('questions' in answer) {
        const calls = answer.questions.map(toCall);
        for (const each of questionChunks(headOf(chat, answer.acceptance), calls, includesUsage)) say(each);
        return say('[DONE]');
      }
      if (answer.error !== undefined || head === undefined) {
        const { code = 'turn_failed', message } = answer.error ?? { message: 'It was not accepted.' };
        return say(errorShape(statusOfCode(code), code, message));
      }
      sayText(text.finish(answerText(chat, answer)));
      place.answered(text.sent);
      say(chunk(head, {}, { answer, includesUsage }));
      if (includesUsage) say(usageChunk(head, answer.usage));
      say('[DONE]');
    })
    .catch((thrown: unknown) => {
      const error = toCoded(thrown);
      say(errorShape(statusOf(error), error.code, error.message));
    })
    .finally(() => {
      waiting.end();
      stream.end();
    });
  const first = await Promise.race([accepted.promise, turn]);
  return stream.response(headersOf(asked, 'questions' in first ? first.acceptance : first));
}

/**
 * Sends the message to the swarm and waits for the answer, or for a question to the client. If there is no answer, tells
 * the conversation whether the turn failed or is still running.
 */
async function ask(
  chat: Chat,
  listeners: Pick<ConnectorAskOptions, 'onAccepted' | 'onDelta'>,
): Promise<ConnectorAnswer | AskingTurn> {
  const { ctx, place, event, waiting, passed = [] } = chat;
  // A client that leaves a question to somebody else may give up waiting, because the turn waits for that person.
  const cancelOnAbort = (ctx.config.cancelOnDisconnect ?? true) && passed.length === 0;
  try {
    const answer = await askUntilQuestion(ctx, event, { ...listeners, signal: waiting.signal, cancelOnAbort }, passed);
    if ('questions' in answer) remember(chat, answer);
    else if (answer.error !== undefined) place.failed();
    return answer;
  } catch (error) {
    if (cancelOnAbort && waiting.signal.aborted) place.failed();
    else place.left();
    throw error;
  }
}

/** Remembers the questions that the client gets. */
function remember({ turns, agent, place, isNamed, event }: Chat, { questions }: AskingTurn): void {
  const { id: eventId, properties = {}, auth } = event;
  if (eventId === undefined || typeof auth?.client !== 'string') return;
  const { conversation } = place;
  const turn = { client: auth.client, agent, conversation, isNamed, eventId, properties };
  for (const question of questions) turns.shown(question, turn);
}

/** Returns the text of the answer. A client that demanded JSON parses it, so nothing may be around the JSON. */
function answerText({ asked }: Chat, { response, output }: ConnectorAnswer): string {
  return asked.output === undefined || output === undefined ? response : JSON.stringify(output);
}

function headOf({ asked }: Chat, { turnId }: ConnectorAcceptance): CompletionHead {
  return { id: `chatcmpl-${turnId}`, created: Math.floor(Date.now() / 1_000), model: asked.model };
}

/** Returns headers for debugging: the instance key, and the names of the settings that were ignored. */
function headersOf({ ignored }: ChatRequest, { instanceKey }: ConnectorAcceptance): Record<string, string> {
  const names = ignored.filter((name) => /^\w{1,40}$/.test(name)).slice(0, 20);
  return {
    'X-Goondan-Instance': encodeURIComponent(instanceKey),
    ...(names.length === 0 ? {} : { 'X-Goondan-Ignored': names.join(', ') }),
  };
}

function readId(request: Request, header: string): string | undefined {
  const id = request.headers.get(header) ?? undefined;
  if (id === undefined || (id !== '' && id.length <= LONGEST_ID && id.isWellFormed())) return id;
  throw new Refusal(400, 'E_HTTP_BODY', `The header ${header} must be an id of 1 to ${LONGEST_ID} characters.`);
}
