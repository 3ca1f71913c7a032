import { InlineText } from '../text/inline-text.tsx';

interface ProblemProps {
  readonly error: Pick<Error, 'message'> & {
    readonly code?: string | undefined;
    readonly suggestion?: string | undefined;
  };
  /** It stands where the conversation would. */
  readonly isWhole?: boolean;
  /** It went wrong long ago: nobody is interrupted by it. */
  readonly isPast?: boolean;
}

/** What went wrong, its code, and what to do. */
export function Problem({ error, isWhole = false, isPast = false }: ProblemProps) {
  const { code } = error;
  const text = (
    <div className="problem" role={isPast ? 'note' : 'alert'}>
      <p className="problem-title">
        {code !== undefined && <code className="problem-code">{code}</code>} <InlineText text={error.message} />
      </p>
      {error.suggestion !== undefined && (
        <p className="problem-suggestion">
          <InlineText text={error.suggestion} />
        </p>
      )}
    </div>
  );
  return isWhole ? <main className="middle centred">{text}</main> : text;
}
