/** Everything the page knows of one workspace while it looks: what there is, what runs, and when to look again. */
import type { StudioNotice, WorkspaceView } from '@goondan/cli/studio';
import { useCallback, useEffect, useState } from 'react';
import { followNotice, liveKey, type LiveTurns } from '../live/live-turns.ts';
import { addressOf } from './ask-server.ts';
import { type Answered, useAnswer } from './use-answer.ts';
import { useNotices } from './use-notices.ts';
import { useVersion } from './use-version.ts';

export interface Swarm {
  readonly view: Answered<WorkspaceView>;
  readonly live: LiveTurns;
  /** Grows when a turn of this conversation was committed: what is read of it may be read again. */
  readonly committed: (agent: string, key: string) => number;
  /** Grows while turns run: for whoever shows one that is not over. */
  readonly progress: number;
  readonly isConnected: boolean;
}

/** Something may change without a notice: another program deletes a conversation. */
const LOOK_AGAIN_MS = 10_000;

export function useSwarm(workspaceId: string | undefined): Swarm {
  const [live, setLive] = useState<LiveTurns>({});
  const [commits, setCommits] = useState<Readonly<Record<string, number>>>({});
  const [viewVersion, lookAgain] = useVersion(250);
  const [progress, goOn] = useVersion(400);

  const hear = useCallback(
    (notice: StudioNotice) => {
      setLive((turns) => followNotice(turns, notice));
      if (notice.type === 'runtime.event') goOn();
      if (notice.type === 'turn.ended') {
        const id = liveKey(notice.end.agent, notice.end.instanceKey);
        setCommits((all) => ({ ...all, [id]: (all[id] ?? 0) + 1 }));
      }
      if (notice.type !== 'delta' && notice.type !== 'log') lookAgain();
    },
    [goOn, lookAgain],
  );
  const isConnected = useNotices(workspaceId, hear);
  useEffect(() => {
    setLive({});
  }, [workspaceId]);
  useEffect(() => {
    const timer = setInterval(lookAgain, LOOK_AGAIN_MS);
    return () => clearInterval(timer);
  }, [lookAgain]);

  const view = useAnswer<WorkspaceView>(workspaceId === undefined ? undefined : addressOf(workspaceId), viewVersion);
  const committed = useCallback((agent: string, key: string) => commits[liveKey(agent, key)] ?? 0, [commits]);
  return { view, live, committed, progress, isConnected };
}
