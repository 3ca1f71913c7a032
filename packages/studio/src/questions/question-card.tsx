import { describeWish, type QuestionView } from '@goondan/cli/studio';
import { useBorrowedFocus } from '../keyboard/use-borrowed-focus.ts';
import { Problem } from '../problems/problem.tsx';
import { Diff } from '../text/diff.tsx';
import { showJson, showLines, showText } from '../text/show-text.ts';
import { describeMoment } from '../time/describe-time.ts';
import { AnswerBar } from './answer-bar.tsx';
import { CallQuestion } from './call-question.tsx';
import { askerOf, subjectOf } from './describe-question.ts';
import { FormQuestion } from './form-question.tsx';
import { PageQuestion } from './page-question.tsx';
import { type Answering, useAnswer } from './use-answer.ts';

interface QuestionCardProps {
  readonly question: QuestionView;
  readonly workspaceId: string;
  /** True if the swarm runs. The answer to a question of a stopped swarm is kept for its next start. */
  readonly isRunning: boolean;
  /** True if the question has ended, and the card stays until the person closes it. */
  readonly isGone: boolean;
  readonly keep: (isKept: boolean) => void;
  readonly refetch: () => void;
}

const STOPPED = 'the next start of the swarm uses your answer';

/** Shows who asks, what for and until when, and the controls for the answer. */
export function QuestionCard({ question, workspaceId, isRunning, isGone, keep, refetch }: QuestionCardProps) {
  const card = useBorrowedFocus<HTMLElement>('.composer textarea');
  const answering = useAnswer(question, { workspaceId, isGone, keep, refetch });
  const { agent, instanceKey, reason, expiresAt } = question;
  const { state, problem } = answering;
  return (
    <section ref={card} className={`question is-${question.kind}`} aria-label={`${subjectOf(question)} waits for you`}>
      <header>
        {question.kind === 'budget' && <span className="question-kind">Budget</span>}
        <strong>{showText(agent)}</strong> {showText(describeWish(question))}
        <span className="quiet">answer by {describeMoment(expiresAt)}</span>
      </header>
      <p className="quiet">
        {[
          instanceKey === 'default' ? undefined : `conversation ${showText(instanceKey)}`,
          askerOf(question),
          isRunning ? undefined : STOPPED,
        ]
          .filter((each) => each !== undefined)
          .join(' · ')}
      </p>
      {reason !== '' && <p className="question-reason">{showLines(reason)}</p>}
      <Subject question={question} workspaceId={workspaceId} answering={answering} />
      {problem !== undefined && <Problem error={problem} />}
      {state === 'ended' && (
        <p className="question-end" role="status">
          {problem === undefined && 'This question is no longer open: somebody else answered, or its turn ended. '}
          {isGone && (
            <button type="button" onClick={() => keep(false)}>
              Close
            </button>
          )}
        </p>
      )}
    </section>
  );
}

function Subject({
  question,
  workspaceId,
  answering,
}: {
  readonly question: QuestionView;
  readonly workspaceId: string;
  readonly answering: Answering;
}) {
  switch (question.kind) {
    case 'call':
      return <CallQuestion question={question} workspaceId={workspaceId} answering={answering} />;
    case 'form':
      return <FormQuestion question={question} answering={answering} />;
    case 'page':
      return <PageQuestion question={question} answering={answering} />;
    case 'change': {
      const files = filesIn(question.args);
      return (
        <>
          {files === undefined ? <pre>{showJson(question.args)}</pre> : <Files files={files} />}
          <AnswerBar kind="change" answering={answering} />
        </>
      );
    }
    case 'budget':
      return <AnswerBar kind="budget" answering={answering} />;
  }
}

interface ChangedFile {
  readonly path: string;
  readonly change: string;
  readonly diff: string;
}

function Files({ files }: { readonly files: readonly ChangedFile[] }) {
  return files.map(({ path, change, diff }) => (
    <div key={path}>
      {showText(change)} <code>{showText(path)}</code>
      <Diff text={diff} />
    </div>
  ));
}

/** Returns the files of a change; `undefined` if the arguments do not describe files. */
function filesIn({ files }: QuestionView['args']): readonly ChangedFile[] | undefined {
  if (!Array.isArray(files)) return undefined;
  const listed: readonly unknown[] = files;
  return listed.every(isChangedFile) ? listed : undefined;
}

function isChangedFile(file: unknown): file is ChangedFile {
  const { path, change, diff } = Object(file) as Record<string, unknown>;
  return [path, change, diff].every((text) => typeof text === 'string');
}
