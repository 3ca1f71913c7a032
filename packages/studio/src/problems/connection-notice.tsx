import { useEffect, useState } from 'react';

interface ConnectionNoticeProps {
  readonly isConnected: boolean;
  readonly error: (Error & { readonly suggestion?: string | undefined }) | undefined;
}

/** A gap this short is nobody's business. */
const PATIENCE_MS = 1_500;

/** What is shown may be old. It goes by itself when Studio answers again. */
export function ConnectionNotice({ isConnected, error }: ConnectionNoticeProps) {
  const isFine = isConnected && error === undefined;
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
          <strong>{error?.message ?? 'The connection to Studio is gone.'}</strong> What you see may be old.{' '}
          {error?.suggestion ?? 'It is tried again.'}
        </p>
      )}
    </div>
  );
}
