/** Whom the chat talks to: the swarm that is up already, or one that is started for it and ends with it. */
import {
  type AskOptions,
  type Clock,
  type ControlClient,
  type Delivery,
  type PlanReconcile,
  sleep,
  type SwarmControl,
  type SwarmNotice,
  type SwarmStatus,
  systemClock,
  type TurnEnd,
  type WatchFilter,
} from '@goondan/runtime';
import { GoondanError } from '@goondan/types';
import { printLogLine } from '../print-log-line.ts';
import { goneCodes } from '../swarm/between-swarms.ts';
import { type PreparedRun, startRun } from '../run/prepare-run.ts';
import { attachSwarm } from '../swarm/attach-swarm.ts';
import type { Terminal } from '../terminal.ts';

export interface ChatSwarm {
  ask(delivery: Delivery, options: AskOptions): Promise<TurnEnd>;
  /** Resolves with what ends it. */
  watch(filter: WatchFilter, listener: (notice: SwarmNotice) => void): Promise<() => void>;
  status(): Promise<SwarmStatus>;
  reload(): Promise<PlanReconcile>;
  /** Resolves when it is stopped, whoever asked for it; rejects when it is gone without a word. */
  readonly stopped: Promise<void>;
  /** Ends it, if it was started for this chat. Asked again it hurries. `undefined` for one that keeps running. */
  readonly stop: ((options?: { readonly graceMs?: number }) => Promise<void>) | undefined;
}

/** For a swarm that is just coming up, or on its way out, in another process. */
const PATIENCE_MS = 30_000;
const AGAIN_MS = 100;

/**
 * What the swarm logs goes to `terminal`, wherever it runs.
 *
 * **Errors** — those of `startRun` and `attachSwarm`.
 */
export async function openChatSwarm(
  run: PreparedRun,
  terminal: Terminal,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<ChatSwarm> {
  const deadline = clock.elapsed() + PATIENCE_MS;
  for (;;) {
    try {
      const running = await attachSwarm(run);
      if (running !== undefined) return await attached(running, terminal);
      return started((await startRun(run, terminal, signal)).control);
    } catch (error) {
      const isInBetween = error instanceof GoondanError && ['E_SWARM_RUNNING', ...goneCodes].includes(error.code);
      if (!isInBetween || signal.aborted || clock.elapsed() > deadline) throw error;
    }
    await sleep(clock, AGAIN_MS, signal);
  }
}

async function attached(client: ControlClient, terminal: Terminal): Promise<ChatSwarm> {
  const { ended } = await client.watch({ types: ['log'] }, (notice) => {
    if (notice.type === 'log') printLogLine(notice.line, terminal);
  });
  return {
    ask: (delivery, options) => client.ask(delivery, options),
    watch: async (filter, listener) => {
      const watch = await client.watch(filter, listener);
      return () => watch.end();
    },
    status: () => client.status(),
    reload: () => client.reload(),
    stopped: ended,
    stop: undefined,
  };
}

function started(control: SwarmControl): ChatSwarm {
  return {
    ask: (delivery, options) => control.ask(delivery, options),
    watch: async (filter, listener) => control.watch(filter, listener),
    status: async () => control.status(),
    reload: () => control.reload(),
    stopped: control.stopped,
    stop: (options) => control.stop(options),
  };
}
