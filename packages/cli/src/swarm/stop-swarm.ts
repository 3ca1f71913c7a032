/** Stops a swarm, and tells a waiting person what the command waits for. */
import type { Swarm } from '@goondan/runtime';
import type { Terminal } from '../terminal.ts';

interface Stop {
  readonly swarm: Pick<Swarm, 'status' | 'stop'>;
  /** The time that running turns may take; the setting of the swarm when absent. */
  readonly graceMs?: number | undefined;
  /** The command that stops the swarm at once. */
  readonly stopNow: string;
  /** The time before the person is told. */
  readonly noticeMs?: number;
}

/** Resolves when no process of the swarm is left. */
export async function stopSwarm(stop: Stop, terminal: Pick<Terminal, 'printError' | 'showsProgress'>): Promise<void> {
  const { swarm, graceMs, noticeMs = NOTICE_MS } = stop;
  const stopping = swarm.stop(graceMs === undefined ? {} : { graceMs });
  if (!terminal.showsProgress) return stopping;
  let isDone = false;
  const tell = async () => {
    // Without an answer, the swarm is about to end.
    const status = await swarm.status().catch(() => undefined);
    const turns = status?.instances.filter((instance) => instance.status === 'working').length ?? 0;
    if (isDone || turns === 0) return;
    const running = turns === 1 ? '1 running turn' : `${turns} running turns`;
    terminal.printError(`Waiting for ${running}. To stop now, type \`${stop.stopNow}\` in another terminal.\n`);
  };
  const timer = setTimeout(() => void tell(), noticeMs);
  try {
    await stopping;
  } finally {
    isDone = true;
    clearTimeout(timer);
  }
}

const NOTICE_MS = 2_000;
