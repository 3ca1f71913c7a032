import { expect, test } from 'bun:test';
import type { QuestionView } from '@goondan/cli/studio';
import { renderToStaticMarkup } from 'react-dom/server';
import { fakeQuestion } from '../../../runtime/src/testing/fake-control.ts';
import { QuestionCard } from './question-card.tsx';

const question: QuestionView = { ...fakeQuestion, kind: 'budget' };
const show = (isRunning: boolean) =>
  renderToStaticMarkup(
    <QuestionCard
      question={question}
      workspaceId="w"
      isRunning={isRunning}
      isGone={false}
      keep={() => undefined}
      refetch={() => undefined}
    />,
  );

test('a question of a stopped swarm says that the next start uses the answer', () => {
  expect(show(true)).not.toContain('next start');
  expect(show(false)).toContain('the next start of the swarm uses your answer');
});
