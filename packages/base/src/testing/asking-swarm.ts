/** For tests: acts as a swarm whose turns ask a person before they answer. */
import {
  type AskSwarm,
  type ConnectorAcceptance,
  type ConnectorAnswer,
  type ConnectorAskOptions,
  type ConnectorQuestion,
  type ConnectorQuestions,
  type ConnectorReply,
  type ErrorCode,
  GoondanError,
  type JsonObject,
  type QuestionChange,
} from '@goondan/types';
import { acceptance, answerOf } from './run-connector.ts';

interface AskedQuestion {
  readonly question: ConnectorQuestion;
  readonly end: PromiseWithResolvers<ConnectorReply | undefined>;
  isOpen: boolean;
}

export class AskingSwarm implements ConnectorQuestions {
  readonly isAllowed = true;
  readonly replies: ConnectorReply[] = [];
  readonly cancelled: string[] = [];
  readonly #turns = new Map<string, { readonly turnId: string; readonly answer: Promise<ConnectorAnswer> }>();
  readonly #questions = new Map<string, AskedQuestion>();
  readonly #listeners = new Set<(change: QuestionChange) => void>();

  /** `asked`: the questions of every turn, one after the other. */
  constructor(private readonly asked: readonly Partial<ConnectorQuestion>[] = [{}]) {}

  readonly ask: AskSwarm = async ({ id = crypto.randomUUID(), input = '', auth }, options = {}) => {
    const known = this.#turns.get(id);
    const turn = known ?? this.#begin(`turn-${this.#turns.size + 1}`, input, auth, options);
    this.#turns.set(id, turn);
    const accepted: ConnectorAcceptance = { ...acceptance, turnId: turn.turnId, duplicate: known !== undefined };
    options.onAccepted?.(accepted);
    const { signal, left, cancelOnAbort = false } = options;
    const gone = Promise.withResolvers<never>();
    signal?.addEventListener('abort', () => {
      if (cancelOnAbort) this.cancelled.push(turn.turnId);
      gone.reject(signal.reason);
    });
    const leave = () => gone.reject(left?.reason);
    left?.addEventListener('abort', leave);
    if (left?.aborted === true) leave();
    const answer = await Promise.race([turn.answer, gone.promise]);
    return { ...answer, ...accepted };
  };

  readonly list = () => [...this.#questions.values()].filter(({ isOpen }) => isOpen).map(({ question }) => question);

  readonly watch = (listener: (change: QuestionChange) => void) => {
    for (const question of this.list()) listener({ state: 'asked', question });
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly answer = async (reply: ConnectorReply): Promise<void> => {
    const asked = this.#questions.get(reply.id);
    if (asked === undefined) throw refusal('E_QUESTION_UNKNOWN');
    if (JSON.stringify(reply.auth) !== JSON.stringify(asked.question.auth)) throw refusal('E_QUESTION_FORBIDDEN');
    if (!asked.isOpen) throw refusal('E_QUESTION_ENDED');
    if (reply.digest !== asked.question.digest) throw refusal('E_QUESTION_CHANGED');
    this.replies.push(reply);
    this.#end(asked, 'answered', reply);
  };

  /** Ends a question through another door. */
  end(id: string, state: 'answered' | 'expired' | 'withdrawn'): void {
    const asked = this.#questions.get(id);
    if (asked !== undefined) this.#end(asked, state);
  }

  #begin(turnId: string, input: string, auth: JsonObject | undefined, options: ConnectorAskOptions) {
    return { turnId, answer: this.#run(turnId, input, auth, options) };
  }

  async #run(
    turnId: string,
    input: string,
    auth: JsonObject | undefined,
    { onDelta }: ConnectorAskOptions,
  ): Promise<ConnectorAnswer> {
    await Bun.sleep(0);
    const words: string[] = [];
    for (const [step, over] of this.asked.entries()) {
      onDelta?.({ type: 'text', text: 'Let me see.', turnId, stepId: `s${step}`, stepIndex: step });
      const id = `q${this.#questions.size + 1}`;
      const question: ConnectorQuestion = {
        ...{ id, agent: 'clerk', instanceKey: 'default', turnId, kind: 'call', reason: 'It costs money.' },
        ...{
          toolName: 'pay',
          args: { input },
          digest: `digest-of-${id}`,
          askedAt: '2026-01-01',
          expiresAt: '2026-01-02',
        },
        ...(auth === undefined ? {} : { auth }),
        ...over,
      };
      const asked: AskedQuestion = { question, end: Promise.withResolvers(), isOpen: true };
      this.#questions.set(id, asked);
      this.#tell({ state: 'asked', question });
      const reply = await asked.end.promise;
      words.push(reply === undefined ? 'elsewhere' : `${reply.decision} by ${reply.by}`);
    }
    return answerOf(`${input}: ${words.join(', ')}.`);
  }

  #end(asked: AskedQuestion, state: 'answered' | 'expired' | 'withdrawn', reply?: ConnectorReply): void {
    asked.isOpen = false;
    const by = reply === undefined ? {} : { by: `${reply.by}@door`, via: 'http' };
    this.#tell({ state, question: asked.question, ...by });
    asked.end.resolve(reply);
  }

  #tell(change: QuestionChange): void {
    for (const listener of [...this.#listeners]) listener(change);
  }
}

function refusal(code: ErrorCode): GoondanError {
  return new GoondanError(code, 'The answer is refused.');
}
