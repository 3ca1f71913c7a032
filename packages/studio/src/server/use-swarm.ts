/** Collects the state of one workspace: its contents, the running turns, and counters that tell when to read again. */
import type { StudioNotice, WorkspaceView } from '@goondan/cli/studio';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { followNotice, liveKey, type LiveTurns } from '../live/live-turns.ts';
import { type Failures, noteEndings, withFailures } from '../live/note-endings.ts';
import { pickUpTurns } from '../live/pick-up-turns.ts';
import { settleTurns } from '../live/settle-turns.ts';
import { addressOf } from './ask-server.ts';
import { countCommits, type Commits } from './count-commits.ts';
import { type Answered, useQuery } from './use-query.ts';
import { isInView, isUrgent } from './when-to-look.ts';
import { useNotices } from './use-notices.ts';
import { useTicks } from './use-ticks.ts';
import { useVersion } from './use-version.ts';

export interface Swarm {
  readonly view: Answered<WorkspaceView>;
  readonly live: LiveTurns;
  /** Returns a number that changes when this conversation changed on disk. */
  readonly versionOf: (agent: string, instanceKey: string) => number;
  /** A counter that increments while turns run, so that a view of a running turn is read again. */
  readonly progress: number;
  /** The reason why notices do not arrive (empty if unknown); `undefined` while notices arrive. */
  readonly streamProblem: string | undefined;
  /** Reads the workspace again after a change. */
  readonly refetch: () => void;
}

/** How often to read again without a notice, because some changes, such as an edited bundle, send no notice. */
const LOOK_AGAIN_MS = 60_000;

export function useSwarm(workspaceId: string | undefined): Swarm {
  const [live, setLive] = useState<LiveTurns>({});
  const [failures, setFailures] = useState<Failures>({});
  const [commits, setCommits] = useState<Commits>(new Map());
  const [urgent, refetch] = useVersion(250);
  const [turnVersion, lookLater] = useVersion(1_000);
  const [progress, goOn] = useVersion(400);
  // True when notices were missed: at first, and after the stream was lost.
  const isBehind = useRef(true);

  const heard = useCallback(
    (notices: readonly StudioNotice[]) => {
      setLive((turns) => notices.reduce(followNotice, turns));
      setCommits((before) => countCommits(before, notices));
      setFailures((before) => noteEndings(before, notices));
      if (notices.some(({ type }) => type === 'runtime.event' || type === 'turn.ended')) goOn();
      if (notices.some(isUrgent)) refetch();
      if (notices.some(isInView)) lookLater();
    },
    [goOn, refetch, lookLater],
  );
  const opened = useCallback(() => {
    isBehind.current = true;
    setLive({});
    setFailures({});
    refetch();
    goOn();
  }, [refetch, goOn]);
  const streamProblem = useNotices(workspaceId, { heard, opened, lost: refetch });
  const version = `${urgent} ${turnVersion} ${useTicks(LOOK_AGAIN_MS)}`;
  const asked = useQuery<WorkspaceView>(workspaceId === undefined ? undefined : addressOf(workspaceId), version);
  const { value } = asked;
  const view = useMemo(
    () => (asked.value === undefined ? asked : { ...asked, value: withFailures(asked.value, failures) }),
    [asked, failures],
  );
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
  return { view, live, versionOf, progress, streamProblem, refetch };
}
