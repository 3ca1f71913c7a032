/**
 * Kills agents, connectors, orchestrators and whole groups with SIGKILL at random moments while clients send work, and
 * then checks the result. No acknowledged input is lost or doubled, every store can be read, and no process survives
 * its orchestrator by more than two seconds.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Acknowledged, checkStores, type Findings } from './check-stores.ts';
import { type LoopDelays, readDelays } from './loop-delays.ts';
import { type Orchestrator, type RunEnd, startOrchestrator } from './orchestrator.ts';

export interface TortureOptions {
  readonly stateRoot: string;
  readonly kills: number;
  readonly onProgress?: (line: string) => void;
}

export type Victim = 'agent' | 'agent group' | 'connector' | 'orchestrator' | 'orchestrator group';

export interface TortureReport extends Findings {
  readonly kills: Readonly<Record<Victim, number>>;
  /** The number of killed agents that were running a turn. */
  readonly midTurn: number;
  readonly acknowledged: number;
  /** How often a process outlived its orchestrator by more than two seconds. */
  readonly orphans: number;
  readonly longestOrphanMs: number;
  /** The number of processes that all ended runs had together. */
  readonly processes: number;
  /** The delays of the orchestrators' event loops, in milliseconds. */
  readonly delay: LoopDelays;
}

/** The kinds of twenty kills, shuffled each time, so that a short run also has every kind. */
const victims: readonly Victim[] = [
  ...Array.from({ length: 12 }, () => 'agent' as const),
  ...Array.from({ length: 3 }, () => 'agent group' as const),
  ...Array.from({ length: 2 }, () => 'connector' as const),
  ...Array.from({ length: 2 }, () => 'orchestrator' as const),
  'orchestrator group',
];

const clients = [
  { agent: 'worker', instanceKey: 'one', verbs: ['work', 'work', 'leave'] },
  { agent: 'worker', instanceKey: 'two', verbs: ['work', 'block'] },
  { agent: 'asker', instanceKey: 'one', verbs: ['ask'] },
  { agent: 'asker', instanceKey: 'three', verbs: ['ask', 'work', 'block'] },
];

export async function torture({ stateRoot, kills: wanted, onProgress }: TortureOptions): Promise<TortureReport> {
  const kills: Record<Victim, number> = {
    agent: 0,
    'agent group': 0,
    connector: 0,
    orchestrator: 0,
    'orchestrator group': 0,
  };
  const acknowledged: Acknowledged[] = [];
  const ends: RunEnd[] = [];
  let midTurn = 0;
  const over = new AbortController();
  const deck = shuffle(victims);
  let orchestrator = startOrchestrator(stateRoot);
  const total = () => Object.values(kills).reduce((sum, count) => sum + count, 0);

  const sending = [...clients.map((client) => sendWork(client)), feed()];
  while (total() < wanted) {
    await Bun.sleep(20 + Math.random() * 200);
    const victim = deck.shift() ?? 'agent';
    if (!(await killSomebody(victim))) deck.push(victim);
    if (deck.length === 0) deck.push(...shuffle(victims));
    if (total() % 50 === 0) onProgress?.(`${total()} kills, ${acknowledged.length} inputs acknowledged`);
  }
  over.abort();
  await Promise.all(sending);
  const last = await orchestrator;
  await waitUntilHandled(last);
  ends.push(await last.stop());
  return {
    ...(await checkStores(stateRoot, acknowledged)),
    kills,
    midTurn,
    acknowledged: acknowledged.length,
    orphans: ends.filter(({ goneAfterMs }) => goneAfterMs === undefined).length,
    longestOrphanMs: Math.round(Math.max(...ends.map(({ goneAfterMs }) => goneAfterMs ?? Infinity))),
    processes: ends.reduce((sum, { before }) => sum + before, 0),
    delay: readDelays(stateRoot),
  };

  /**
   * Sends inputs one after the other, and repeats each until it is acknowledged. Inputs with the same id are the same
   * input.
   */
  async function sendWork({ agent, instanceKey, verbs }: (typeof clients)[number]): Promise<void> {
    for (let count = 0; !over.signal.aborted; count++) {
      const job = `${agent}-${instanceKey}-${count}`;
      const delivery = { agent, instanceKey, id: job, input: `${verbs[count % verbs.length]} ${job}` };
      // Only every third input is awaited, so that there is always some work to interrupt, but never too much.
      const isAwaited = count % 3 === 2;
      await untilDone(async ({ control }) => control.deliver(delivery));
      acknowledged.push({ agent, instanceKey, job });
      if (isAwaited)
        await untilDone(async ({ control }) => void (over.signal.aborted || (await control.ask(delivery))));
      await Bun.sleep(Math.random() * 30);
    }
  }

  /** Repeats the request with the next orchestrator if an orchestrator is killed meanwhile. */
  async function untilDone(ask: (running: Orchestrator) => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await ask(await orchestrator);
        return;
      } catch {
        await Bun.sleep(10);
      }
    }
  }

  async function feed(): Promise<void> {
    for (let count = 0; !over.signal.aborted; count++) {
      const key = String(count % 2);
      const job = `feed-${key}-${count}`;
      for (;;) {
        try {
          const port = readFileSync(join(stateRoot, 'feed-port'), 'utf8');
          const body = JSON.stringify({ id: job, key, input: `work ${job}` });
          const { status } = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body });
          if (status === 202) break;
        } catch {
          // The orchestrator is down, so this tries again with the same id.
        }
        await Bun.sleep(20);
      }
      acknowledged.push({ agent: 'worker', instanceKey: `feed-${key}`, job });
      await Bun.sleep(100 + Math.random() * 100);
    }
  }

  /** Kills a process of this kind. Returns false when there was none. */
  async function killSomebody(victim: Victim): Promise<boolean> {
    const running = await orchestrator;
    if (victim === 'orchestrator' || victim === 'orchestrator group') {
      const next = Promise.withResolvers<Orchestrator>();
      orchestrator = next.promise;
      ends.push(await running.kill(victim === 'orchestrator' ? 'process' : 'group'));
      kills[victim] += 1;
      next.resolve(startOrchestrator(stateRoot));
      await orchestrator;
      return true;
    }
    const { instances, connections } = await running.control.status();
    const targets = victim === 'connector' ? connections : preferWorking(instances);
    const pids = targets.flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
    const pid = pids[Math.floor(Math.random() * pids.length)];
    if (pid === undefined || !tryKill(victim === 'agent group' ? -pid : pid)) return false;
    kills[victim] += 1;
    if (victim !== 'connector' && instances.some((each) => each.pid === pid && each.status === 'working')) midTurn += 1;
    return true;
  }
}

function shuffle<Each>(list: readonly Each[]): Each[] {
  return list
    .map((each) => ({ each, order: Math.random() }))
    .toSorted((one, other) => one.order - other.order)
    .map(({ each }) => each);
}

function preferWorking<Each extends { readonly status: string }>(instances: readonly Each[]): readonly Each[] {
  const working = instances.filter(({ status }) => status === 'working');
  return working.length > 0 && Math.random() < 0.9 ? working : instances;
}

function tryKill(target: number): boolean {
  try {
    process.kill(target, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}

async function waitUntilHandled({ control }: Orchestrator): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const { instances } = await control.status();
    if (instances.every(({ queued }) => queued === 0)) return;
    if (performance.now() > deadline) throw new Error(`Not handled: ${JSON.stringify(instances)}`);
    await Bun.sleep(50);
  }
}
