import type { CodePlace } from '@goondan/cli/studio';
import { CodedText } from '../text/coded-text.tsx';
import { ErrorOrigin } from './error-origin.tsx';

interface ProblemProps {
  readonly error: Pick<Error, 'message'> & {
    readonly code?: string | undefined;
    readonly suggestion?: string | undefined;
    /** The extension whose layer threw the error. */
    readonly extension?: string | undefined;
    readonly place?: CodePlace | undefined;
  };
  /** The stack of the error. */
  readonly stack?: string | undefined;
  /** If true, the error is shown in place of the conversation. */
  readonly isWhole?: boolean;
  /** If true, the error is from the past, and screen readers do not announce it. */
  readonly isPast?: boolean;
}

/** Shows an error: its code, its place, and the suggestion. */
export function Problem({ error, stack, isWhole = false, isPast = false }: ProblemProps) {
  const { code, extension, place } = error;
  const text = (
    <div className="problem" role={isPast ? 'note' : 'alert'}>
      <p className="problem-title">
        {code !== undefined && <code className="problem-code">{code}</code>}{' '}
        {extension !== undefined && <strong>{extension}: </strong>}
        <CodedText text={error.message} />
      </p>
      <ErrorOrigin place={place} stack={stack} />
      {error.suggestion !== undefined && (
        <p className="problem-suggestion">
          <CodedText text={error.suggestion} />
        </p>
      )}
    </div>
  );
  return isWhole ? <main className="middle centred">{text}</main> : text;
}
