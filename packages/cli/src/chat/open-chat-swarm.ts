/** Whom the chat talks to: the swarm that is up already, or one that is started for it and ends with it. */
import {
  type AskOptions,
  type ControlClient,
  type Delivery,
  type PlanReconcile,
  type SwarmControl,
  type SwarmNotice,
  type SwarmStatus,
  type TurnEnd,
  type WatchFilter,
} from '@goondan/runtime';
import { GoondanError } from '@goondan/types';
import type { ApprovalSwarm } from '../approval/approval-swarm.ts';
import { type IsReported, printLogLine } from '../print-log-line.ts';
import { type PreparedRun, startRun } from '../run/prepare-run.ts';
import { attachSwarm } from '../swarm/attach-swarm.ts';
import { betweenSwarms } from '../swarm/between-swarms.ts';
import type { Terminal } from '../terminal.ts';

export interface ChatSwarm extends Omit<ApprovalSwarm, 'watch'> {
  ask(delivery: Delivery, options: AskOptions): Promise<TurnEnd>;
  /** Resolves with what ends it. */
  watch(filter: WatchFilter, listener: (notice: SwarmNotice) => void): Promise<() => void>;
  status(): Promise<SwarmStatus>;
  reload(): Promise<PlanReconcile>;
  /** Resolves when it is stopped, whoever asked for it; rejects when it is gone without a word. */
  readonly stopped: Promise<void>;
  /** Ends it, if it was started for this chat. Asked again it hurries. `undefined` for one that keeps running. */
  readonly stop: ((options?: { readonly graceMs?: number }) => Promise<void>) | undefined;
  /** Listens no more; `stopped` may resolve. */
  readonly leave: () => void;
}

/**
 * Log lines that the chat does not report go to `terminal`, wherever it runs.
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
    const running = await attachSwarm(run);
    if (running !== undefined) return attached(running, terminal, isReported);
    const { control } = await startRun(run, terminal, signal, isReported);
    if (!signal.aborted) return started(control);
    await control.stop({ graceMs: 0 });
    throw new GoondanError('E_CANCELLED', 'The swarm was stopped before the chat began.');
  }, signal);
}

async function attached(client: ControlClient, terminal: Terminal, isReported: IsReported): Promise<ChatSwarm> {
  const log = await client.watch({ types: ['log'] }, (notice) => {
    if (notice.type === 'log') printLogLine(notice.line, terminal, isReported);
  });
  return {
    ask: (delivery, options) => client.ask(delivery, options),
    watch: async (filter, listener) => {
      const watch = await client.watch(filter, listener);
      return () => watch.end();
    },
    approvals: () => client.approvals(),
    approve: (id, options) => client.approve(id, options),
    deny: (id, options) => client.deny(id, options),
    status: () => client.status(),
    reload: () => client.reload(),
    stopped: log.ended,
    stop: undefined,
    leave: () => log.end(),
  };
}

function started(control: SwarmControl): ChatSwarm {
  return {
    ask: (delivery, options) => control.ask(delivery, options),
    watch: async (filter, listener) => control.watch(filter, listener),
    approvals: () => control.approvals(),
    approve: (id, options) => control.approve(id, options),
    deny: (id, options) => control.deny(id, options),
    status: async () => control.status(),
    reload: () => control.reload(),
    stopped: control.stopped,
    stop: (options) => control.stop(options),
    leave: () => undefined,
  };
}
