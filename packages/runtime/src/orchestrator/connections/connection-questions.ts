/**
 * The questions that clients of a connection see and answer.
 *
 * Invariants:
 * 1. A connection with `answersQuestions: true` gets the questions of turns that its own events began, also those of
 *    agents that such a turn called, and no other. The stored root of the question decides, and the channel tells the
 *    connection; data of a frame is not used.
 * 2. `by` of an answer ends with the name of the connection, so no connector can answer in the name of somebody else.
 * 3. A process gets every open question when it starts, and each end once.
 */
import { type ConnectorQuestion, type ConnectorReply, GoondanError, type QuestionChange } from '@goondan/types';
import type { ConnectionPlan } from '../../config/swarm-plan.ts';
import type { QuestionDoor } from '../../ipc/connector-questions.ts';
import { defined } from '../../json/defined.ts';
import { digestJson } from '../../json/digest-json.ts';
import { turnIdOf } from '../../ports/ids.ts';
import type { QuestionSummary } from '../../questions/question-record.ts';
import type { SwarmListener } from '../instances/swarm-listener.ts';
import type { Questions } from '../questions/questions.ts';

interface Watch {
  readonly connection: string;
  readonly listener: (change: QuestionChange) => void;
  /** The questions that the listener knows as open. */
  readonly open: Map<string, ConnectorQuestion>;
}

export class ConnectionQuestions implements SwarmListener {
  readonly #watches = new Set<Watch>();

  constructor(private readonly questions: Pick<Questions, 'pending' | 'endOf' | 'answer'>) {}

  /** Returns the door of a connection, for one process. */
  doorOf({ connection, connector, answersQuestions = false }: ConnectionPlan): QuestionDoor {
    return {
      watch: (listener) => (answersQuestions ? this.#watch(connection, listener) : () => undefined),
      answer: async (reply) => {
        if (!answersQuestions) throw forbiddenError(connection);
        const { auth, by, ...given } = reply;
        await this.questions.answer({ ...given, by: `${by}@${connection}`, via: connector }, (question) =>
          mayAnswer(question, connection, auth),
        );
      },
    };
  }

  waitsChanged(): void {
    if (this.#watches.size === 0) return;
    const pending = this.questions.pending();
    for (const watch of [...this.#watches]) this.#tell(watch, pending);
  }

  #watch(connection: string, listener: Watch['listener']): () => void {
    const watch: Watch = { connection, listener, open: new Map() };
    this.#watches.add(watch);
    this.#tell(watch, this.questions.pending());
    return () => void this.#watches.delete(watch);
  }

  #tell({ connection, listener, open }: Watch, pending: readonly QuestionSummary[]): void {
    for (const { question, end } of [...open.values()].map((each) => ({ question: each, end: this.#endOf(each) }))) {
      if (end === undefined) continue;
      open.delete(question.id);
      listener({ state: end.how, question, ...defined({ by: end.by, via: end.via }) });
    }
    for (const summary of pending) {
      if (summary.root?.connection !== connection || open.has(summary.id)) continue;
      const question = toConnectorQuestion(summary, summary.root);
      open.set(question.id, question);
      listener({ state: 'asked', question });
    }
  }

  #endOf({ id }: ConnectorQuestion) {
    return this.questions.endOf(id);
  }
}

function mayAnswer({ root }: QuestionSummary, connection: string, auth: ConnectorReply['auth']): boolean {
  if (root?.connection !== connection) return false;
  return auth === undefined || (root.auth !== undefined && digestJson(auth) === digestJson(root.auth));
}

function toConnectorQuestion(
  summary: QuestionSummary,
  { eventId, auth }: NonNullable<QuestionSummary['root']>,
): ConnectorQuestion {
  const { id, agent, instanceKey, kind, askedBy, reason, toolName, args, schema, url, digest } = summary;
  const { askedAt, expiresAt } = summary;
  return defined({
    ...{ id, agent, instanceKey, turnId: turnIdOf(eventId), auth, kind, askedBy, reason, toolName },
    ...{ args, schema, url, digest, askedAt, expiresAt },
  });
}

function forbiddenError(connection: string): GoondanError {
  return new GoondanError('E_QUESTION_FORBIDDEN', `Clients of Connection/${connection} may not answer questions.`);
}
