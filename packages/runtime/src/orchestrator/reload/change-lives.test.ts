// Tests random lives of a swarm that changes while its processes start, work, hibernate, crash and are restarted.
import { expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { samples } from '../../../../../test/samples.ts';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import { systemClock } from '../../ports/clock.ts';
import { noParts } from '../../testing/fake-agents.ts';
import { openFakeSwarm, removeFakeSwarm } from '../../testing/fake-swarm.ts';
import type { Connections } from '../connections/connections.ts';
import { swarmReloader } from './reload-swarm.ts';

/** A process as its agent sees it: the plan it runs, and the changes it prepares. */
interface Life {
  readonly agentName: string;
  prompt: string | undefined;
  readonly held: Map<number, string | undefined>;
  /** The number of changes that it was asked to prepare, and the number of swaps and drops. */
  asked: number;
  told: number;
  isOver: boolean;
}

/** A generator of numbers from 0 to 1 that repeats with its seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

test('L-01 in random lives, every process runs the plan in force when all changes are decided', async () => {
  const seen = { accepted: 0, refused: 0, swaps: 0, drops: 0 };
  for (let seed = 1; seed <= samples(25); seed += 1) await live(seed, seen);
  // The lives contain what they are about.
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
});

async function live(seed: number, seen: Record<'accepted' | 'refused' | 'swaps' | 'drops', number>): Promise<void> {
  const random = randomFrom(seed);
  const chance = (share: number) => random() < share;
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const pause = () => Bun.sleep(random() * 3);
  const policy = { maxProcesses: 3, startTimeoutMs: 2_000, crashesBeforeDeadLetter: 50 };
  const opened = await openFakeSwarm(
    async ({ event }) => {
      await pause();
      return event.input ?? '';
    },
    { policy },
  );
  const { agents, swarm, currentPlan, send } = opened;
  const { plan } = currentPlan.value;
  const lives = new Map<(typeof agents.children)[number], Life>();
  agents.onStart = (child) => {
    const start = agents.started.at(-1)?.start;
    if (start === undefined) return;
    const { agentName, systemPrompt } = start.agent;
    const life: Life = { agentName, prompt: systemPrompt, held: new Map(), asked: 0, told: 0, isOver: false };
    lives.set(child, life);
    child.channel.onClose(() => void (life.isOver = true));
    child.channel.onMessage((message) => {
      if (message.type !== 'change.swap' && message.type !== 'change.drop') return;
      life.told += 1;
      seen[message.type === 'change.swap' ? 'swaps' : 'drops'] += 1;
      if (message.type === 'change.swap')
        life.prompt = life.held.has(message.change) ? life.held.get(message.change) : 'a change that was not prepared';
    });
    void pause().then(() =>
      child.channel.send({ type: 'ready', extensions: [], layers: [], tools: [] }).catch(() => undefined),
    );
  };
  agents.onChange = (child, { change, plan: wanted }) => {
    const life = lives.get(child);
    if (life === undefined) return;
    life.asked += 1;
    void pause().then(async () => {
      if (chance(0.05)) return child.exit({ code: 1 });
      const error = { code: 'E_EXT_INIT', message: 'no' } as const;
      if (chance(0.15)) return child.channel.send({ type: 'change.failed', change, error }).catch(() => undefined);
      life.held.set(change, typeof wanted.systemPrompt === 'string' ? wanted.systemPrompt : undefined);
      return child.channel.send({ type: 'change.ready', change }).catch(() => undefined);
    });
  };
  let wanted: SwarmPlan = plan;
  const connections = { replace: () => undefined } as Pick<Connections, 'replace'> as Connections;
  const trials = { agent: () => pause().then(() => noParts), connection: pause };
  const reloader = swarmReloader({ currentPlan, swarm, connections, trials, clock: systemClock }, async () => wanted);

  const work: Promise<unknown>[] = [];
  for (let step = 0; step < 40; step += 1) {
    const address = { agentName: pick(['a', 'b']), instanceKey: pick(['one', 'two', 'three']) };
    if (chance(0.25)) {
      const names = pick([['a'], ['b'], ['a', 'b']]);
      wanted = {
        ...plan,
        agents: wanted.agents.map((agent) =>
          names.includes(agent.agentName) ? { ...agent, systemPrompt: `${seed}.${step}` } : agent,
        ),
      };
      work.push(
        reloader.reload().then(
          () => (seen.accepted += 1),
          (error: unknown) => {
            seen.refused += 1;
            expect(GoondanError.is(error) && error.code).toBe('E_RELOAD_FAILED');
          },
        ),
      );
    } else if (chance(0.1)) {
      work.push(swarm.instances.whileAsleep(address, { graceMs: 1_000 }, pause));
    } else if (chance(0.12)) {
      [...lives].find(([, life]) => !life.isOver)?.[0].exit({ code: 1 });
    } else {
      work.push(send(address.agentName, `${step}`, { instanceKey: address.instanceKey }));
    }
    if (chance(0.7)) await pause();
  }
  await Promise.all(work);
  const awake = () => [...lives.values()].filter(({ isOver }) => !isOver);
  const isSettled = () => awake().every(({ asked, told }) => asked === told);
  for (let patience = 0; !isSettled() && patience < 200; patience += 1) await Bun.sleep(2);
  const inForce = (agentName: string) => currentPlan.value.agents.get(agentName)?.systemPrompt;
  const wrong = awake().filter(({ agentName, prompt, asked, told }) => prompt !== inForce(agentName) || asked !== told);
  expect({ seed, wrong }).toEqual({ seed, wrong: [] });
  await reloader.close();
  await opened.close();
  removeFakeSwarm(opened);
}
