import { useEffect, useRef, useState } from 'react';
import { getFrom } from './ask-server.ts';
import { type Asked, Asking } from './asking.ts';

export interface Answered<Answer> extends Partial<Asked<Answer>> {
  /** The address from which this answer was read. */
  readonly address?: string;
}

/**
 * Reads an address, and reads it again whenever the address or `version` changes. Without an address it reads nothing.
 * During a read, and after a failure, it returns the last answer.
 */
export function useQuery<Answer>(address: string | undefined, version: unknown = 0): Answered<Answer> {
  const [state, setState] = useState<Answered<Answer>>({});
  const asking = useRef<Asking<Answer>>(undefined);

  useEffect(() => {
    asking.current = undefined;
    if (address === undefined) return setState({});
    const current = new Asking<Answer>(
      (signal) => getFrom<Answer>(address, signal),
      (asked) => {
        if (asked.error === undefined) return setState({ ...asked, address });
        const { error } = asked;
        setState((before) => ({ ...(before.address === address ? before : {}), error }));
      },
    );
    asking.current = current;
    return () => current.end();
  }, [address]);
  useEffect(() => asking.current?.ask(version), [address, version]);

  return state;
}
