import type { Done, WorkspaceView } from '@goondan/cli/studio';
import { useState } from 'react';
import { useBorrowedFocus } from '../keyboard/use-borrowed-focus.ts';
import { addressOf, postTo } from '../server/ask-server.ts';
import { counted } from '../text/counted.ts';
import { describeMoment } from '../time/describe-time.ts';
import { Problem } from './problem.tsx';

type Letter = WorkspaceView['deadLetters'][number];

interface DeadLettersProps {
  readonly letters: readonly Letter[];
  readonly workspaceId: string;
  readonly refetch: () => void;
}

/** Shows inputs that repeatedly crashed their agent. They are kept until a person decides about them. */
export function DeadLetters({ letters, ...rest }: DeadLettersProps) {
  // An event that fails again after a retry is a new dead letter, so the key includes the time.
  return letters.map((letter) => <DeadLetter key={`${letter.eventId} ${letter.deadAt}`} letter={letter} {...rest} />);
}

function DeadLetter({ letter, workspaceId, refetch }: Omit<DeadLettersProps, 'letters'> & { readonly letter: Letter }) {
  const [problem, setProblem] = useState<Error>();
  const [state, setState] = useState<'open' | 'asked' | 'gone'>('open');
  const act = async (action: 'retry' | 'drop') => {
    if (state !== 'open') return;
    setState('asked');
    const { agent, instanceKey, eventId } = letter;
    try {
      await postTo<Done>(addressOf(workspaceId, 'dead-letter'), { agent, instanceKey, eventId, action });
      // The action was done, or nothing was left to do.
      setState('gone');
      refetch();
    } catch (error) {
      setState('open');
      setProblem(error instanceof Error ? error : new Error(String(error)));
    }
  };
  if (state === 'gone') return null;
  return (
    <LetterCard letter={letter} isAsked={state === 'asked'} problem={problem} act={(action) => void act(action)} />
  );
}

interface LetterCardProps {
  readonly letter: Letter;
  readonly isAsked: boolean;
  readonly problem: Error | undefined;
  readonly act: (action: 'retry' | 'drop') => void;
}

function LetterCard({ letter, isAsked, problem, act }: LetterCardProps) {
  const card = useBorrowedFocus<HTMLElement>('.composer textarea, .dead-letter button');
  const { agent, instanceKey, crashes, deadAt, reason, input } = letter;
  return (
    <section ref={card} className="dead-letter" aria-label={`A dead letter of ${agent}`}>
      <header>
        <strong>Put aside</strong> after {counted(crashes, 'crash', 'crashes')} of {agent} {instanceKey}
        <span className="quiet">{describeMoment(deadAt)}</span>
      </header>
      <p>{reason}</p>
      {input !== undefined && <pre>{input}</pre>}
      <div className="answers">
        <button type="button" aria-disabled={isAsked} onClick={() => act('retry')}>
          Try again
        </button>
        <button type="button" aria-disabled={isAsked} onClick={() => act('drop')}>
          Drop
        </button>
      </div>
      {problem !== undefined && <Problem error={problem} />}
    </section>
  );
}
