import { useEffect, useRef, useState } from 'react';
import { addressOf } from './ask-server.ts';
import { followStream, type StreamListener } from './follow-stream.ts';

/** Hears what happens in a workspace's swarm. Returns whether the stream is open. */
export function useNotices(workspaceId: string | undefined, listener: StreamListener): boolean {
  const latest = useRef(listener);
  latest.current = listener;
  const [isOpen, setOpen] = useState(true);

  useEffect(() => {
    if (workspaceId === undefined) return;
    setOpen(true);
    return followStream(addressOf(workspaceId, 'events'), {
      opened() {
        setOpen(true);
        latest.current.opened();
      },
      lost() {
        setOpen(false);
        latest.current.lost();
      },
      heard: (notices) => latest.current.heard(notices),
    });
  }, [workspaceId]);

  return isOpen;
}
