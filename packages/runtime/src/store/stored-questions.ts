/**
 * Questions of a swarm that nobody asks through the swarm: while it does not run, or at a store that many nodes share. A
 * node that runs hears of each answer from the store; otherwise the next start uses it.
 */
import { defined } from '../json/defined.ts';
import type { Clock } from '../ports/clock.ts';
import {
  answerOf,
  type EndedQuestion,
  endedError,
  findReplyProblem,
  type QuestionReply,
} from '../questions/check-reply.ts';
import {
  findGrantProblem,
  type GrantRevocation,
  type GrantSummary,
  grantOf,
  isGrant,
  unknownGrant,
} from '../questions/grant-summary.ts';
import { type QuestionRecord, type QuestionSummary, summaryOf } from '../questions/question-record.ts';
import { answerToo } from '../questions/answered-too.ts';
import type { QuestionStore } from './question-store.ts';

/** The same methods as those of a running swarm, with the same errors. */
export interface StoredQuestions {
  /** Lists the questions that people can answer now, oldest first. */
  questions(): Promise<readonly QuestionSummary[]>;
  /** Answers a question. Resolves when the answer is durable. **Errors** — those of `Swarm.answer`, and of the store. */
  answer(reply: QuestionReply): Promise<void>;
  grants(): Promise<readonly GrantSummary[]>;
  revoke(grant: GrantRevocation): Promise<void>;
  close(): Promise<void>;
}

export function storedQuestions(
  store: Pick<QuestionStore, 'list' | 'answer' | 'remove' | 'findRemoved'>,
  clock: Clock,
): Omit<StoredQuestions, 'close'> {
  const isLate = ({ expiresAt }: QuestionRecord) => clock.now().getTime() >= Date.parse(expiresAt);
  const endOf = (record: QuestionRecord): EndedQuestion | undefined => {
    const { answer } = record;
    if (answer !== undefined) return { how: 'answered', ...defined({ by: answer.by, via: answer.via }) };
    return isLate(record) ? { how: 'expired' } : undefined;
  };
  const endOfRemoved = async (id: string): Promise<EndedQuestion | undefined> => {
    const record = await store.findRemoved?.(id);
    if (record === undefined) return undefined;
    return { ...(endOf(record) ?? { how: 'withdrawn' }), ...(isGrant(record) && { revoked: {} }) };
  };
  const endNow = async (id: string): Promise<EndedQuestion | undefined> => {
    const record = (await store.list()).find((each) => each.id === id);
    return record === undefined ? endOfRemoved(id) : endOf(record);
  };
  return {
    async questions() {
      return (await store.list()).filter((record) => endOf(record) === undefined).map(summaryOf);
    },
    async answer(reply) {
      const all = await store.list();
      const record = all.find(({ id }) => id === reply.id);
      const ended = record === undefined ? await endOfRemoved(reply.id) : endOf(record);
      const question = record && summaryOf(record);
      const problem =
        findReplyProblem(defined({ question, ended }), reply) ??
        findGrantProblem(record === undefined ? [] : all.filter((each) => isSameConversation(each, record)), reply);
      if (problem !== undefined) throw problem;
      if (record === undefined) return;
      const answer = answerOf(reply, clock.now());
      // Somebody else may have answered meanwhile, through the swarm or from another machine.
      if (!(await store.answer({ ...record, answer })))
        throw endedError(reply.id, (await endNow(reply.id)) ?? { how: 'answered' });
      for (const other of all) {
        const too = isLate(other) ? undefined : answerToo(other, { ...record, answer });
        if (too !== undefined) await store.answer({ ...other, answer: too });
      }
    },
    async grants() {
      return (await store.list()).flatMap((record) => grantOf(record) ?? []);
    },
    async revoke({ id }) {
      const record = (await store.list()).find((each) => each.id === id);
      if (record === undefined || !isGrant(record)) {
        const ended = record === undefined ? await endOfRemoved(id) : undefined;
        throw ended?.revoked === undefined ? unknownGrant(id) : endedError(id, ended);
      }
      await store.remove(id);
    },
  };
}

function isSameConversation(one: QuestionRecord, other: QuestionRecord): boolean {
  return one.agent === other.agent && one.instanceKey === other.instanceKey;
}
