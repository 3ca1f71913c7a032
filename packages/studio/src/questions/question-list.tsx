import type { QuestionView } from '@goondan/cli/studio';
import { useState } from 'react';
import { QuestionCard } from './question-card.tsx';

/**
 * Shows a card for each open question. A card whose answer was refused, or that a person has begun to answer, stays when
 * its question ends, so that the person sees why.
 */
export function QuestionList({
  questions,
  ...rest
}: {
  readonly questions: readonly QuestionView[];
  readonly workspaceId: string;
  readonly isRunning: boolean;
  /** Reads the workspace again after an answer: a stopped swarm tells nobody about it. */
  readonly refetch: () => void;
}) {
  const [kept, setKept] = useState<readonly QuestionView[]>([]);
  const open = new Set(questions.map(keyOf));
  const gone = kept.filter((each) => !open.has(keyOf(each)));
  const keep = (question: QuestionView, isKept: boolean) =>
    setKept((before) => {
      const others = before.filter((each) => keyOf(each) !== keyOf(question));
      return isKept ? [...others, question] : others;
    });
  return [...gone, ...questions].map((question) => (
    <QuestionCard
      key={keyOf(question)}
      question={question}
      {...rest}
      isGone={gone.includes(question)}
      keep={(isKept) => keep(question, isKept)}
    />
  ));
}

/** A question that asks for something else is another question. */
function keyOf({ id, digest }: QuestionView): string {
  return `${id} ${digest}`;
}
