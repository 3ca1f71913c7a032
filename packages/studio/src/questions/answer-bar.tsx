import { nameAnswer, type QuestionView } from '@goondan/cli/studio';
import { type ReactNode, useState } from 'react';
import type { Answering, GivenAnswer } from './use-answer.ts';

const agentReads = { hint: 'Why not? The agent reads it.', label: 'Why not, for the agent to read' };
const turnShows = { hint: 'Why not? Shown in the error of the turn.', label: 'Why not, for the error of the turn' };
const decision = { yes: 'Approve', no: 'Deny', ...agentReads };
const reply = { yes: 'Answer', no: 'Decline', ...agentReads };
const words: Readonly<Record<QuestionView['kind'], typeof decision>> = {
  call: decision,
  change: decision,
  budget: { ...decision, yes: 'Raise the budget', ...turnShows },
  form: reply,
  page: { ...reply, yes: 'I am done' },
};

interface AnswerBarProps {
  readonly kind: QuestionView['kind'];
  readonly answering: Answering;
  /** The parts of an approval beside its decision. */
  readonly approval?: Omit<GivenAnswer, 'decision' | 'note'>;
  /** `submit`: the form around the bar sends the yes. `none`: there is no yes. */
  readonly yes?: 'button' | 'submit' | 'none';
  /** Further buttons, after yes and no. */
  readonly children?: ReactNode;
}

/** The buttons for yes and no, and a field for the reason of a no. */
export function AnswerBar({ kind, answering, approval = {}, yes = 'button', children }: AnswerBarProps) {
  const [note, setNote] = useState('');
  const { state, isOpen, answer, begin } = answering;
  const said = words[kind];
  const reason = note.trim() === '' ? {} : { note: note.trim() };
  return (
    <div className="answers">
      {yes !== 'none' && (
        <button
          type={yes}
          className="primary"
          aria-disabled={!isOpen}
          {...(yes === 'button' && { onClick: () => answer({ decision: 'approved', ...reason, ...approval }) })}
        >
          {state === 'approved' ? nameAnswer(kind, { decision: state }) : said.yes}
        </button>
      )}
      <button type="button" aria-disabled={!isOpen} onClick={() => answer({ decision: 'denied', ...reason })}>
        {state === 'denied' ? nameAnswer(kind, { decision: state }) : said.no}
      </button>
      {children}
      <input
        value={note}
        maxLength={1000}
        placeholder={said.hint}
        aria-label={said.label}
        readOnly={!isOpen}
        // Otherwise the form around the bar would be sent: a yes, although the person writes the reason of a no.
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        onChange={({ target }) => {
          setNote(target.value);
          begin();
        }}
      />
    </div>
  );
}
