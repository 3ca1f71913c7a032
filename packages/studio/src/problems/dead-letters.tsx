import type { Done, WorkspaceView } from '@goondan/cli/studio';
import { useState } from 'react';
import { addressOf, postTo } from '../server/ask-server.ts';
import { describeMoment } from '../time/describe-time.ts';
import { Problem } from './problem.tsx';

interface DeadLettersProps {
  readonly letters: WorkspaceView['deadLetters'];
  readonly workspaceId: string;
}

/** Inputs that crashed their agent again and again: kept until a person says what becomes of them. */
export function DeadLetters({ letters, workspaceId }: DeadLettersProps) {
  const [problem, setProblem] = useState<Error>();
  const act = (letter: DeadLettersProps['letters'][number], action: 'retry' | 'drop') => {
    const { agent, instanceKey: key, eventId } = letter;
    postTo<Done>(addressOf(workspaceId, 'dead-letter'), { agent, key, eventId, action }).then(
      () => setProblem(undefined),
      (error: unknown) => setProblem(error instanceof Error ? error : new Error(String(error))),
    );
  };
  return (
    <>
      {letters.map((letter) => (
        <section key={letter.eventId} className="dead-letter" aria-label="An input that was put aside">
          <header>
            <strong>Put aside</strong> after {letter.crashes} crashes of {letter.agent}
            <span className="quiet">{describeMoment(letter.deadAt)}</span>
          </header>
          <p>{letter.reason}</p>
          {letter.input !== undefined && <pre>{letter.input}</pre>}
          <div className="approval-answers">
            <button type="button" onClick={() => act(letter, 'retry')}>
              Try again
            </button>
            <button type="button" onClick={() => act(letter, 'drop')}>
              Drop
            </button>
          </div>
        </section>
      ))}
      {problem !== undefined && <Problem error={problem} />}
    </>
  );
}
