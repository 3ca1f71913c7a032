/** Fakes a person who answers questions. As in a swarm, an answer is kept until the tool call has used it. */
import type { Question, Approver } from '../agent/seams/approver.ts';
import { canonicalJson } from '../json/canonical-json.ts';
import type { QuestionOutcome } from '../questions/question-record.ts';

export interface FakeApprover extends Approver {
  /** Every request, in order. A request that was made twice is listed twice. */
  readonly questions: readonly Question[];
  /** The answers that no tool call has used yet, by the id of the request. */
  readonly given: Map<string, Promise<QuestionOutcome>>;
  /** Adds the answers that were given to another process of the same agent. */
  remember(earlier: FakeApprover): void;
}

/** Returns the answer of the person: at once, later, or never. */
export type Answer = (question: Question) => QuestionOutcome | Promise<QuestionOutcome>;

/** An approver whose person never answers. */
export interface SilentApprover extends FakeApprover {
  /** The signal of the first request. */
  readonly asked: Promise<AbortSignal>;
}

export function silentApprover(): SilentApprover {
  // Node 20, which loads the testing kit, has no `Promise.withResolvers`.
  let resolve: (signal: AbortSignal) => void = () => undefined;
  const asked = new Promise<AbortSignal>((settle) => {
    resolve = settle;
  });
  const approver = fakeApprover(() => new Promise(() => undefined));
  return {
    ...approver,
    asked,
    ask(question, signal) {
      resolve(signal);
      return approver.ask(question, signal);
    },
  };
}

export function fakeApprover(answer: Answer): FakeApprover {
  const questions: Question[] = [];
  const given = new Map<string, Promise<QuestionOutcome>>();
  return {
    questions,
    given,
    remember: (earlier) => earlier.given.forEach((outcome, id) => given.set(id, outcome)),
    async ask(question, signal) {
      signal.throwIfAborted();
      questions.push(question);
      const { turnId, key, args } = question;
      const id = canonicalJson([turnId, key, args]);
      const outcome = given.get(id) ?? Promise.resolve(answer(question));
      given.set(id, outcome);
      let giveUp = () => {};
      const aborted = new Promise<never>((_, reject) => void (giveUp = () => reject(signal.reason)));
      signal.addEventListener('abort', giveUp, { once: true });
      try {
        return { id, ...(await Promise.race([outcome, aborted])) };
      } finally {
        signal.removeEventListener('abort', giveUp);
      }
    },
    taken: (id) => void given.delete(id),
  };
}
