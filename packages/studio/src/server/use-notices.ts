import type { StudioNotice } from '@goondan/cli/studio';
import { useEffect, useRef, useState } from 'react';
import { addressOf } from './ask-server.ts';

/** Hears what happens in a workspace's swarm. Returns whether the stream is open; the browser opens it again by itself. */
export function useNotices(workspaceId: string | undefined, listener: (notice: StudioNotice) => void): boolean {
  const latest = useRef(listener);
  latest.current = listener;
  const [isOpen, setOpen] = useState(true);

  useEffect(() => {
    if (workspaceId === undefined) return;
    const stream = new EventSource(addressOf(workspaceId, 'events'));
    stream.addEventListener('open', () => setOpen(true));
    stream.addEventListener('error', () => setOpen(false));
    stream.addEventListener('message', ({ data }: MessageEvent<string>) => {
      // As in ask-server.ts: one contract for both sides.
      latest.current(JSON.parse(data) as StudioNotice);
    });
    return () => stream.close();
  }, [workspaceId]);

  return isOpen;
}
