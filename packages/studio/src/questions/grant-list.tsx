import { describeAlways, describeWhere, type Done, type GrantSummary } from '@goondan/cli/studio';
import { useState } from 'react';
import { Problem } from '../problems/problem.tsx';
import { addressOf, postTo } from '../server/ask-server.ts';
import { showJson, showText } from '../text/show-text.ts';
import { describeMoment } from '../time/describe-time.ts';
import { describePerson } from './describe-question.ts';

interface GrantListProps {
  readonly grants: readonly GrantSummary[];
  readonly workspaceId: string;
  readonly refetch: () => void;
}

/** Lists the calls that people always allow, each with a button that revokes it. */
export function GrantList({ grants, ...rest }: GrantListProps) {
  if (grants.length === 0) return null;
  return (
    <details className="grants">
      <summary>Always allowed: {grants.length}</summary>
      <ul>
        {grants.map((grant) => (
          <Grant key={grant.id} grant={grant} {...rest} />
        ))}
      </ul>
    </details>
  );
}

function Grant({ grant, workspaceId, refetch }: Omit<GrantListProps, 'grants'> & { readonly grant: GrantSummary }) {
  const [isAsked, setAsked] = useState(false);
  const [problem, setProblem] = useState<Error>();
  const { id, toolName, always, args, host, decidedAt } = grant;
  const revoke = async () => {
    if (isAsked) return;
    setAsked(true);
    try {
      await postTo<Done>(addressOf(workspaceId, 'revoke'), { id });
      refetch();
    } catch (error) {
      setAsked(false);
      setProblem(error instanceof Error ? error : new Error(String(error)));
    }
  };
  return (
    <li>
      <p>
        {showText(describeAlways(always, toolName, host))}{' '}
        <span className="quiet">
          {showText(describeWhere(grant))} · {describePerson(grant)} · {describeMoment(decidedAt)}
        </span>{' '}
        <button
          type="button"
          aria-disabled={isAsked}
          aria-label={`Revoke ${showText(toolName)}`}
          onClick={() => void revoke()}
        >
          Revoke
        </button>
      </p>
      {args !== undefined && <pre>{showJson(args)}</pre>}
      {problem !== undefined && <Problem error={problem} />}
    </li>
  );
}
