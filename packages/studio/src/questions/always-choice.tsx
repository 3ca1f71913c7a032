import { type AlwaysScope, alwaysScopesOf, hostOf, type QuestionView } from '@goondan/cli/studio';
import { useId } from 'react';
import { describeCover } from './describe-question.ts';

interface AlwaysChoiceProps {
  /** Its arguments are those that the approval is about. */
  readonly question: QuestionView;
  readonly isEdited: boolean;
  /** True if the question can no longer be answered. */
  readonly hasEnded: boolean;
  readonly always: AlwaysScope | undefined;
  readonly choose: (always: AlwaysScope | undefined) => void;
}

/** Lets a person approve the next calls too, and says exactly which. */
export function AlwaysChoice({ question, isEdited, hasEnded, always, choose }: AlwaysChoiceProps) {
  const name = useId();
  const scopes = alwaysScopesOf(question);
  const labels: Readonly<Record<AlwaysScope, string>> = {
    arguments: `this tool with ${isEdited ? 'the edited' : 'these'} arguments`,
    host: `this tool to ${hostOf(question)}`,
    tool: 'this tool',
  };
  return (
    <p className="question-always">
      <label htmlFor={name}>The approval is for</label>{' '}
      <select
        id={name}
        value={always ?? 'once'}
        disabled={hasEnded}
        aria-describedby={`${name}-cover`}
        onChange={({ target: { value } }) => choose(scopes.find((scope) => scope === value))}
      >
        <option value="once">this call</option>
        {scopes.map((scope) => (
          <option key={scope} value={scope}>
            always: {labels[scope]}
          </option>
        ))}
      </select>{' '}
      <span id={`${name}-cover`} className="quiet" role="status">
        {always !== undefined && describeCover(question, always, isEdited)}
      </span>
    </p>
  );
}
