import type { AnswerBody, CheckedAnswer, QuestionView } from '@goondan/cli/studio';
import { useEffect, useId, useRef, useState } from 'react';
import { Problem } from '../problems/problem.tsx';
import { addressOf, postTo } from '../server/ask-server.ts';
import { readArguments } from './read-arguments.ts';

export interface EditedArguments {
  readonly args: NonNullable<AnswerBody['args']>;
  /** The difference to the arguments that were shown, in unified format. */
  readonly diff: string;
}

interface ArgumentEditorProps {
  readonly question: QuestionView;
  readonly workspaceId: string;
  /** The arguments as JSON, as far as the person wrote them. */
  readonly text: string;
  readonly write: (text: string) => void;
  /** Called with checked arguments; with `undefined` if the person changed nothing. */
  readonly done: (edited: EditedArguments | undefined) => void;
  readonly leave: () => void;
}

/** Lets a person change the arguments of a call. The swarm's own check decides whether they fit the schema of the tool. */
export function ArgumentEditor({ question, workspaceId, text, write, done, leave }: ArgumentEditorProps) {
  const [problem, setProblem] = useState<Error>();
  const [isChecking, setChecking] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const name = useId();
  useEffect(() => box.current?.focus(), []);

  const check = async () => {
    if (isChecking) return;
    setChecking(true);
    try {
      const args = readArguments(text);
      const { id, digest } = question;
      const body: AnswerBody = { id, digest, decision: 'approved', args };
      const { diff } = await postTo<CheckedAnswer>(addressOf(workspaceId, 'check'), body);
      done(diff === '' ? undefined : { args, diff });
    } catch (error) {
      setProblem(error instanceof Error ? error : new Error(String(error)));
      setChecking(false);
      box.current?.focus();
    }
  };

  return (
    <div className="argument-editor">
      <label htmlFor={name}>Arguments, as JSON</label>
      <textarea
        ref={box}
        id={name}
        value={text}
        rows={Math.min(20, text.split('\n').length + 1)}
        spellCheck={false}
        aria-invalid={problem !== undefined}
        aria-describedby={`${name}-problem`}
        onChange={({ target }) => {
          write(target.value);
          setProblem(undefined);
        }}
      />
      <div id={`${name}-problem`}>{problem !== undefined && <Problem error={problem} />}</div>
      <div className="answers">
        <button type="button" className="primary" aria-disabled={isChecking} onClick={() => void check()}>
          Show the difference
        </button>
        <button type="button" onClick={leave}>
          Back
        </button>
      </div>
    </div>
  );
}
