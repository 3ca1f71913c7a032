import { useCallback, useEffect, useState } from 'react';
import { getFrom } from './ask-server.ts';

export interface Answered<Answer> {
  /** The latest one; the one before while the next is on its way. */
  readonly value?: Answer;
  /** What it is the answer to. */
  readonly address?: string;
  readonly error?: Error;
  /** Asks again, now. */
  readonly reload: () => void;
}

/**
 * What the server says under an address, again whenever the address or `version` changes; nothing while there is no
 * address. An older question that is still open then is given up.
 */
export function useAnswer<Answer>(address: string | undefined, version: unknown = 0): Answered<Answer> {
  const [state, setState] = useState<{ value?: Answer; address?: string; error?: Error }>({});
  const [reloads, setReloads] = useState(0);
  const reload = useCallback(() => setReloads((count) => count + 1), []);

  useEffect(() => {
    if (address === undefined) return setState({});
    const given = new AbortController();
    getFrom<Answer>(address, given.signal).then(
      (value) => setState({ value, address }),
      (error: unknown) => {
        if (given.signal.aborted) return;
        const reason = error instanceof Error ? error : new Error(String(error));
        setState((before) => ({ ...(before.address === address ? before : {}), error: reason }));
      },
    );
    return () => given.abort();
  }, [address, version, reloads]);

  return { ...state, reload };
}
