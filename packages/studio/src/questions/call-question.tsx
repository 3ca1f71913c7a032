import { type AlwaysScope, alwaysScopesOf, type QuestionView } from '@goondan/cli/studio';
import { useState } from 'react';
import { Diff } from '../text/diff.tsx';
import { showJson } from '../text/show-text.ts';
import { AlwaysChoice } from './always-choice.tsx';
import { AnswerBar } from './answer-bar.tsx';
import { ArgumentEditor, type EditedArguments } from './argument-editor.tsx';
import type { Answering } from './use-answer.ts';

interface CallQuestionProps {
  readonly question: QuestionView;
  readonly workspaceId: string;
  readonly answering: Answering;
}

/**
 * Shows a tool call: its arguments, or an editor for them, or the difference that the person made. Only the difference
 * has the button that approves edited arguments.
 */
export function CallQuestion({ question, workspaceId, answering }: CallQuestionProps) {
  const [isEditing, setEditing] = useState(false);
  const [text, setText] = useState(() => showJson(question.args));
  const [edited, setEdited] = useState<EditedArguments>();
  const [chosen, setChosen] = useState<AlwaysScope>();
  const { isOpen, state } = answering;
  if (isEditing && isOpen) {
    return (
      <ArgumentEditor
        question={question}
        workspaceId={workspaceId}
        text={text}
        write={(written) => {
          setText(written);
          answering.begin();
        }}
        done={(given) => {
          setEdited(given);
          setEditing(false);
        }}
        leave={() => setEditing(false)}
      />
    );
  }
  const approved = { ...question, ...(edited && { args: edited.args }) };
  // Edited arguments may go to no host.
  const always = alwaysScopesOf(approved).find((scope) => scope === chosen);
  const approval = { ...(edited && { args: edited.args }), ...(always && { always }) };
  return (
    <>
      {edited === undefined ? (
        <pre>{showJson(question.args)}</pre>
      ) : (
        <div role="group" aria-label="Your changes">
          <p>Your changes to the arguments:</p>
          <Diff text={edited.diff} />
        </div>
      )}
      <AnswerBar kind="call" answering={answering} approval={approval}>
        <button type="button" aria-disabled={!isOpen} onClick={() => isOpen && setEditing(true)}>
          {edited === undefined ? 'Edit' : 'Edit again'}
        </button>
        {edited !== undefined && (
          <button
            type="button"
            aria-disabled={!isOpen}
            onClick={() => {
              setEdited(undefined);
              setText(showJson(question.args));
            }}
          >
            Undo my changes
          </button>
        )}
      </AnswerBar>
      <AlwaysChoice
        question={approved}
        isEdited={edited !== undefined}
        hasEnded={state === 'ended'}
        always={always}
        choose={setChosen}
      />
    </>
  );
}
