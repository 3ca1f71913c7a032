import type { QuestionView } from '@goondan/cli/studio';
import { useId } from 'react';
import { describeCover } from './describe-question.ts';

type Always = 'tool' | 'arguments';

interface AlwaysChoiceProps {
  readonly question: QuestionView;
  readonly isEdited: boolean;
  /** True if the question can no longer be answered. */
  readonly hasEnded: boolean;
  readonly always: Always | undefined;
  readonly choose: (always: Always | undefined) => void;
}

/** Lets a person approve the next calls too, and says exactly which. */
export function AlwaysChoice({ question, isEdited, hasEnded, always, choose }: AlwaysChoiceProps) {
  const name = useId();
  return (
    <p className="question-always">
      <label htmlFor={name}>The approval is for</label>{' '}
      <select
        id={name}
        value={always ?? 'once'}
        disabled={hasEnded}
        aria-describedby={`${name}-cover`}
        onChange={({ target: { value } }) => choose(value === 'once' ? undefined : (value as Always))}
      >
        <option value="once">this call</option>
        <option value="arguments">always: this tool with {isEdited ? 'the edited' : 'these'} arguments</option>
        <option value="tool">always: this tool</option>
      </select>{' '}
      <span id={`${name}-cover`} className="quiet" role="status">
        {always !== undefined && describeCover(question, always, isEdited)}
      </span>
    </p>
  );
}
