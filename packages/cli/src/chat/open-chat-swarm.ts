/** The swarm of a chat: a swarm that already runs, or one that is started for the chat and stops with it. */
import { warnOfOtherBundle } from '../cluster/warn-of-other-bundle.ts';
import type { Swarm, SwarmWatch } from '@goondan/runtime';
import { interrupted } from '../interrupted.ts';
import { type IsReported, printLogLine } from '../print-log-line.ts';
import { type PreparedRun, startRun } from '../run/prepare-run.ts';
import { findServing } from '../run/replace-one-shot.ts';
import { attachSwarm } from '../swarm/attach-swarm.ts';
import { betweenSwarms } from '../swarm/between-swarms.ts';
import type { Terminal } from '../terminal.ts';

export interface ChatSwarm {
  readonly swarm: Swarm;
  /** True when the swarm was started for this chat and stops with it. */
  readonly isOwn: boolean;
  /** Ends when the swarm stops; rejects when the connection to the swarm is lost. */
  readonly watch: SwarmWatch;
}

/**
 * Opens the swarm. Log lines that the chat does not show go to `terminal`.
 *
 * **Errors** — those of `startRun` and `attachSwarm`, `E_CANCELLED`.
 */
export function openChatSwarm(
  run: PreparedRun,
  terminal: Terminal,
  signal: AbortSignal,
  isReported: IsReported,
): Promise<ChatSwarm> {
  return betweenSwarms(async () => {
    // A swarm that runs for one input would end soon, so the chat replaces it.
    const running = (await findServing(run.place)) && (await attachSwarm(run.place));
    if (running !== undefined) {
      await warnOfOtherBundle(run, terminal);
      const watch = await running.watch({ types: ['log'] }, (notice) => {
        if (notice.type === 'log') printLogLine(notice.line, terminal, isReported);
      });
      return { swarm: running, isOwn: false, watch };
    }
    const { control: swarm } = await startRun(run, terminal, { signal, isReported });
    // A swarm in this process prints its own log, so no notices are needed.
    if (!signal.aborted) return { swarm, isOwn: true, watch: await swarm.watch({ types: [] }, () => undefined) };
    await swarm.stop({ graceMs: 0 });
    throw interrupted('The swarm was stopped before the chat began.');
  }, signal);
}
