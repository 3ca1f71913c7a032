/** The questions of the turns that a client's requests began. */
import {
  type ConnectorAcceptance,
  type ConnectorAnswer,
  type ConnectorAskOptions,
  type ConnectorContext,
  type ConnectorEvent,
  type ConnectorQuestion,
  type QuestionChange,
} from '@goondan/types';

type Asking = Pick<ConnectorContext<unknown>, 'ask' | 'questions'>;

/** A turn that waits for an answer of the client. */
export interface AskingTurn {
  readonly acceptance: ConnectorAcceptance;
  /** The questions that wait now; at least one that the client did not leave to somebody else. */
  readonly questions: readonly ConnectorQuestion[];
}

/**
 * Sends an event and waits for the end of its turn, or for a question of the turn or of an agent that it called. The turn
 * continues in any case. Another ask with the same event id waits further. `passed`: the ids of questions that the client leaves
 * to somebody else.
 */
export async function askUntilQuestion(
  asking: Asking,
  event: ConnectorEvent,
  options: ConnectorAskOptions,
  passed: readonly string[] = [],
): Promise<ConnectorAnswer | AskingTurn> {
  const { onAccepted: _, ...again } = options;
  const isForClient = ({ id }: ConnectorQuestion) => !passed.includes(id);
  let end = await askOnce(asking, event, options, isForClient);
  // Somebody else answered before the client got the question, so the client would have nothing to answer.
  while ('questions' in end && !end.questions.some(isForClient)) end = await askOnce(asking, event, again, isForClient);
  return end;
}

async function askOnce(
  { ask, questions }: Asking,
  event: ConnectorEvent,
  options: ConnectorAskOptions,
  isForClient: (question: ConnectorQuestion) => boolean,
): Promise<ConnectorAnswer | AskingTurn> {
  const left = new AbortController();
  let asking: ConnectorAcceptance | undefined;
  let unwatch = () => {};
  const onAccepted = (acceptance: ConnectorAcceptance) => {
    options.onAccepted?.(acceptance);
    unwatch = watchTurn(questions, acceptance, ({ state, question }) => {
      if (state !== 'asked' || !isForClient(question)) return;
      asking = acceptance;
      left.abort();
    });
  };
  try {
    return await ask(event, { ...options, left: left.signal, onAccepted });
  } catch (error) {
    if (asking === undefined) throw error;
    return { acceptance: asking, questions: questionsOf(questions, asking) };
  } finally {
    unwatch();
  }
}

/** Calls the listener with each question of a turn and of the agents that it called, also with those that wait now. */
export function watchTurn(
  questions: Asking['questions'],
  { turnId }: ConnectorAcceptance,
  listener: (change: QuestionChange) => void,
): () => void {
  return questions.watch((change) => {
    if (change.question.turnId === turnId) listener(change);
  });
}

/** Returns true if a request of this client began the work. A client without a token has no questions. */
export function isOfClient({ auth }: ConnectorQuestion, client: string | undefined): boolean {
  return client !== undefined && auth?.client === client;
}

function questionsOf(questions: Asking['questions'], { turnId }: ConnectorAcceptance): readonly ConnectorQuestion[] {
  return questions.list().filter((question) => question.turnId === turnId);
}
