import type { CodePlace } from '@goondan/cli/studio';
import { InlineText } from '../text/inline-text.tsx';
import { ErrorOrigin } from './error-origin.tsx';

interface ProblemProps {
  readonly error: Pick<Error, 'message'> & {
    readonly code?: string | undefined;
    readonly suggestion?: string | undefined;
    /** The extension whose layer threw. */
    readonly extension?: string | undefined;
    readonly place?: CodePlace | undefined;
  };
  /** The stack of the error. */
  readonly stack?: string | undefined;
  /** It stands where the conversation would. */
  readonly isWhole?: boolean;
  /** It went wrong long ago: nobody is interrupted by it. */
  readonly isPast?: boolean;
}

/** An error: its code, where it was thrown, and what to do. */
export function Problem({ error, stack, isWhole = false, isPast = false }: ProblemProps) {
  const { code, extension, place } = error;
  const text = (
    <div className="problem" role={isPast ? 'note' : 'alert'}>
      <p className="problem-title">
        {code !== undefined && <code className="problem-code">{code}</code>}{' '}
        {extension !== undefined && <strong>{extension}: </strong>}
        <InlineText text={error.message} />
      </p>
      <ErrorOrigin place={place} stack={stack} />
      {error.suggestion !== undefined && (
        <p className="problem-suggestion">
          <InlineText text={error.suggestion} />
        </p>
      )}
    </div>
  );
  return isWhole ? <main className="middle centred">{text}</main> : text;
}
