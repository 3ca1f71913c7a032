import { useEffect, useRef, useState } from 'react';
import { getFrom } from './ask-server.ts';
import { type Asked, Asking } from './asking.ts';

export interface Answered<Answer> extends Partial<Asked<Answer>> {
  /** What it is the answer to. */
  readonly address?: string;
}

/**
 * What the server says under an address, again whenever the address or `version` changes; nothing while there is no
 * address. While another one is on its way, or when it failed, the latest answer stays.
 */
export function useAnswer<Answer>(address: string | undefined, version: unknown = 0): Answered<Answer> {
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
