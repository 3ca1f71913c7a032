/** Everything the page knows of one workspace while it looks: what there is, what runs, and when to look again. */
import type { StudioNotice, WorkspaceView } from '@goondan/cli/studio';
import { useCallback, useEffect, useRef, useState } from 'react';
import { followNotice, liveKey, type LiveTurns } from '../live/live-turns.ts';
import { pickUpTurns } from '../live/pick-up-turns.ts';
import { settleTurns } from '../live/settle-turns.ts';
import { addressOf } from './ask-server.ts';
import { countCommits, type Commits } from './count-commits.ts';
import { type Answered, useAnswer } from './use-answer.ts';
import { isInView, isUrgent } from './when-to-look.ts';
import { useNotices } from './use-notices.ts';
import { useTicks } from './use-ticks.ts';
import { useVersion } from './use-version.ts';

export interface Swarm {
  readonly view: Answered<WorkspaceView>;
  readonly live: LiveTurns;
  /** Another one when this conversation changed on disk: what is read of it may be read again. */
  readonly versionOf: (agent: string, instanceKey: string) => number;
  /** Grows while turns run: for whoever shows one that is not over. */
  readonly progress: number;
  /** Why notices do not come, as far as the server said; `undefined` when they do. */
  readonly streamProblem: string | undefined;
  /** At what there is: something was done to it. */
  readonly lookAgain: () => void;
}

/** For what nobody tells: somebody edits the bundle. */
const LOOK_AGAIN_MS = 60_000;

export function useSwarm(workspaceId: string | undefined): Swarm {
  const [live, setLive] = useState<LiveTurns>({});
  const [commits, setCommits] = useState<Commits>(new Map());
  const [urgent, lookAgain] = useVersion(250);
  const [turnVersion, lookLater] = useVersion(1_000);
  const [progress, goOn] = useVersion(400);
  // Nobody listened for a while: at first, and after the stream was gone.
  const isBehind = useRef(true);

  const heard = useCallback(
    (notices: readonly StudioNotice[]) => {
      setLive((turns) => notices.reduce(followNotice, turns));
      setCommits((before) => countCommits(before, notices));
      if (notices.some(({ type }) => type === 'runtime.event' || type === 'turn.ended')) goOn();
      if (notices.some(isUrgent)) lookAgain();
      if (notices.some(isInView)) lookLater();
    },
    [goOn, lookAgain, lookLater],
  );
  const opened = useCallback(() => {
    isBehind.current = true;
    setLive({});
    lookAgain();
    goOn();
  }, [lookAgain, goOn]);
  const streamProblem = useNotices(workspaceId, { heard, opened, lost: lookAgain });
  const version = `${urgent} ${turnVersion} ${useTicks(LOOK_AGAIN_MS)}`;
  const view = useAnswer<WorkspaceView>(workspaceId === undefined ? undefined : addressOf(workspaceId), version);
  const { value } = view;
  useEffect(() => {
    if (value === undefined) return;
    const { conversations } = value;
    const catchesUp = isBehind.current;
    isBehind.current = false;
    setLive((turns) => {
      const settled = settleTurns(turns, conversations);
      return catchesUp ? pickUpTurns(settled, conversations) : settled;
    });
  }, [value]);
  const hasDoubt = Object.values(live).some(({ isDoubted }) => isDoubted === true);
  useEffect(() => {
    if (hasDoubt) lookLater();
  }, [hasDoubt, value, lookLater]);
  const versionOf = useCallback(
    (agent: string, instanceKey: string) => commits.get(liveKey(agent, instanceKey)) ?? 0,
    [commits],
  );
  return { view, live, versionOf, progress, streamProblem, lookAgain };
}
