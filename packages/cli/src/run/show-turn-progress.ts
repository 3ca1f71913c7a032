/**
 * Shows on standard error what a turn does. At a terminal it is one line, which is replaced, and cleared before anything
 * else is printed. Elsewhere, such as in the log of a CI job, it is a line after ten seconds, and then ever more rarely.
 */
import type { Acceptance, Swarm, SwarmNotice } from '@goondan/runtime';
import { harmlessText } from '../harmless-text.ts';
import type { Terminal } from '../terminal.ts';
import { TurnProgress } from './turn-progress.ts';

export interface ProgressOptions {
  /** True while the terminal belongs to something else, such as a question or an editor. */
  readonly isPaused: () => boolean;
  /** Called before a line is shown below the answer so far; absent if the answer is not shown while it is written. */
  readonly beforeLine?: () => void;
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly times?: typeof usualTimes;
}

/** `patience`: until the line is shown at a terminal. `silence`: until the first line elsewhere. `tick`: between two looks. */
const usualTimes = { patience: 1_000, silence: 10_000, tick: 250 };

/** At a terminal, it also watches the turns of other agents that the turn causes. */
export async function showTurnProgress(
  swarm: Pick<Swarm, 'watch'>,
  terminal: Pick<Terminal, 'printError' | 'showStatus' | 'showsProgress' | 'isWatched'>,
  { isPaused, beforeLine, signal, now, times: { patience, silence, tick } = usualTimes }: ProgressOptions,
) {
  let shown: { readonly own: Acceptance; readonly progress: TurnProgress } | undefined;
  let next = { at: 0, after: silence };
  const look = () => {
    if (shown === undefined || now() < next.at) return;
    const { progress } = shown;
    if (isPaused() || (beforeLine && progress.isWriting && terminal.isWatched)) return terminal.showStatus(undefined);
    const text = `${signal.aborted ? 'is being cancelled · ' : ''}${progress.describe(now())}`;
    if (!terminal.showsProgress) {
      next = { at: now() + next.after, after: 2 * next.after };
      return terminal.printError(`Still running: ${harmlessText(text)}\n`);
    }
    beforeLine?.();
    terminal.showStatus(text);
  };
  const hearOthers = (notice: SwarmNotice) => {
    if (notice.type !== 'runtime.event' || shown === undefined) return;
    const { own, progress } = shown;
    const isOwn = notice.at.agent === own.agent && notice.at.instanceKey === own.instanceKey;
    if (!isOwn && notice.payload['traceId'] === own.traceId) progress.hear(notice, now());
  };
  const watch = terminal.showsProgress ? await swarm.watch({ types: ['runtime.event'] }, hearOthers) : undefined;
  watch?.ended.catch(() => undefined);
  const timer = setInterval(look, tick);
  const clear = () => terminal.showStatus(undefined);
  // The second Ctrl-C quits at once.
  process.once('exit', clear);
  return {
    accepted(own: Acceptance): void {
      shown = { own, progress: new TurnProgress(own.agent, now()) };
      next = { at: now() + (terminal.showsProgress ? patience : silence), after: silence };
    },
    hear: (notice: SwarmNotice) => shown?.progress.hear(notice, now()),
    end(): void {
      clearInterval(timer);
      process.off('exit', clear);
      watch?.end();
      clear();
    },
  };
}
