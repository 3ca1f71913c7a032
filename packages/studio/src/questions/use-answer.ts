import type { AnswerBody, Done, QuestionView } from '@goondan/cli/studio';
import { useState } from 'react';
import { addressOf, postTo, ServerError } from '../server/ask-server.ts';

/** An answer without the facts of its question. */
export type GivenAnswer = Omit<AnswerBody, 'id' | 'digest'>;

export interface Answering {
  /** `ended`: the question can no longer be answered; `problem` says why. */
  readonly state: 'open' | 'sending' | 'approved' | 'denied' | 'ended';
  readonly problem: Error | undefined;
  readonly isOpen: boolean;
  readonly answer: (given: GivenAnswer) => void;
  /** Call this function when the person has begun to answer. */
  readonly begin: () => void;
}

/** The errors of a question that nobody can answer any more, or that is not the one on the page. */
const endings = new Set(['E_QUESTION_UNKNOWN', 'E_QUESTION_ENDED', 'E_QUESTION_CHANGED']);

interface AnswerPlace {
  readonly workspaceId: string;
  /** True if the question has left the list. */
  readonly isGone: boolean;
  /** Keeps the card although its question has ended. */
  readonly keep: (isKept: boolean) => void;
  readonly refetch: () => void;
}

/** Answers a question once. */
export function useAnswer(
  { id, digest }: Pick<QuestionView, 'id' | 'digest'>,
  { workspaceId, isGone, keep, refetch }: AnswerPlace,
): Answering {
  const [state, setState] = useState<Answering['state']>('open');
  const [problem, setProblem] = useState<Error>();
  const isOpen = state === 'open' && !isGone;

  const send = async (given: GivenAnswer) => {
    setState('sending');
    setProblem(undefined);
    try {
      // The digest of the question on the page: the answer is refused if the question is another one by now.
      const body: AnswerBody = { id, digest, ...given };
      await postTo<Done>(addressOf(workspaceId, 'answer'), body);
      setState(given.decision);
      keep(false);
    } catch (error) {
      const isOver = error instanceof ServerError && endings.has(error.code);
      setState(isOver ? 'ended' : 'open');
      setProblem(error instanceof Error ? error : new Error(String(error)));
      keep(true);
    }
    refetch();
  };
  return {
    state: isGone && state === 'open' ? 'ended' : state,
    problem,
    isOpen,
    answer: (given) => void (isOpen && send(given)),
    begin: () => isOpen && keep(true),
  };
}
