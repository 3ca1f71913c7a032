import { useEffect, useState } from 'react';
import { CodedText } from '../text/coded-text.tsx';

/** How long a problem must last before it is shown. */
const PATIENCE_MS = 1_500;

/**
 * Says that the page may be out of date. Disappears when Studio answers again. `streamProblem` is the reason why
 * notices do not arrive (empty if unknown); `undefined` while notices arrive.
 */
export function ConnectionNotice({
  streamProblem,
  error,
}: {
  readonly streamProblem: string | undefined;
  readonly error: (Error & { readonly suggestion?: string | undefined }) | undefined;
}) {
  const isFine = streamProblem === undefined && error === undefined;
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (isFine) return;
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [isFine]);
  return (
    <div className="connection" role="status">
      {!isFine && isLate && (
        <p>
          <strong>{error?.message ?? (streamProblem || 'The connection to Studio was lost.')}</strong> What you see may
          be old. <CodedText text={error?.suggestion ?? 'Reconnecting.'} />
        </p>
      )}
    </div>
  );
}
