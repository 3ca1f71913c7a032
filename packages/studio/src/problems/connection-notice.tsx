import { useEffect, useState } from 'react';
import { InlineText } from '../text/inline-text.tsx';

interface ConnectionNoticeProps {
  /** Why notices do not come, as far as the server said; `undefined` when they do. */
  readonly streamProblem: string | undefined;
  readonly error: (Error & { readonly suggestion?: string | undefined }) | undefined;
}

/** A gap this short is nobody's business. */
const PATIENCE_MS = 1_500;

/** What is shown may be old. It goes by itself when Studio answers again. */
export function ConnectionNotice({ streamProblem, error }: ConnectionNoticeProps) {
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
          <strong>{error?.message ?? (streamProblem || 'The connection to Studio is gone.')}</strong> What you see may
          be old. <InlineText text={error?.suggestion ?? 'It is tried again.'} />
        </p>
      )}
    </div>
  );
}
