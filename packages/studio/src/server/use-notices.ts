import { useEffect, useRef, useState } from 'react';
import { addressOf } from './ask-server.ts';
import { followStream, type StreamListener } from './follow-stream.ts';

/**
 * Listens to the notices of a workspace. Returns `undefined` while the stream is open; otherwise the reason why it is
 * closed, which may be empty.
 */
export function useNotices(workspaceId: string | undefined, listener: StreamListener): string | undefined {
  const latest = useRef(listener);
  latest.current = listener;
  const [problem, setProblem] = useState<string>();

  useEffect(() => {
    if (workspaceId === undefined) return;
    setProblem(undefined);
    return followStream(addressOf(workspaceId, 'events'), {
      opened() {
        setProblem(undefined);
        latest.current.opened();
      },
      lost(reason) {
        setProblem(reason);
        latest.current.lost(reason);
      },
      heard: (notices) => latest.current.heard(notices),
    });
  }, [workspaceId]);

  return problem;
}
