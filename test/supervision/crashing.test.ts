// Tests many instances that crash at random under traffic, with far fewer processes than instances.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TurnEnd } from '@goondan/runtime';
import type { Journal } from '@goondan/runtime/history';
import type { AgentAddress } from '@goondan/types';
import { backoffMs } from '../../packages/runtime/src/orchestrator/supervision/backoff.ts';
import { seededRandom } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import { samples, sampleStep, testInProof } from '../samples.ts';
import { type Life, livesFile } from './bundle/unsteady.ts';
import {
  extensionOf,
  type HeardLine,
  inputsOf,
  openSwarm,
  outcomeOf,
  quickPolicy,
  readStore,
  scriptedAgent,
  temporaryFolder,
  TEST_MS,
} from './kit.ts';
import { until } from '../until.ts';

setDefaultTimeout(TEST_MS);

const SEED = 4;
const INSTANCES = samples(100);
const EVENTS_EACH = 3;
const MAX_PROCESSES = 12;
const restart = { quickCrashes: 2, baseMs: 300, maxMs: 1_200, healthyMs: 600_000 };
/** A pause between inputs that is far shorter than a backoff. */
const MUCH_TRAFFIC_MS = sampleStep === 1 ? 5 : 30;
const names = ['one', 'two', 'three', 'four'];

interface Sent {
  readonly at: AgentAddress;
  readonly id: string;
  readonly input: string;
}

testInProof(
  `R-03 ${INSTANCES} instances crash at random: every accepted event is answered or a dead letter, and no start comes too early`,
  async () => {
    await using folder = await temporaryFolder();
    const ends: TurnEnd[] = [];
    const sent = planTraffic();
    let exits: () => readonly HeardLine[];
    {
      await using swarm = await openSwarm(folder.path, {
        agents: names.map((name) => scriptedAgent(name, { extensions: [extensionOf('unsteady', { seed: SEED })] })),
        // There is no spare process, because a spare would have been started before the crash.
        policy: { ...quickPolicy, restart, maxProcesses: MAX_PROCESSES, spares: 0, heartbeat: { everyMs: 5_000 } },
      });
      const { control } = swarm;
      await control.watch({ types: ['turn.ended'] }, (notice) => {
        if (notice.type === 'turn.ended') ends.push(notice.end);
      });
      let most = 0;
      for (const { at, id, input } of sent) {
        await control.deliver({ agent: at.agentName, instanceKey: at.instanceKey, id, input });
        most = Math.max(most, (await control.status()).instances.filter(({ pid }) => pid !== undefined).length);
      }
      await until(() => ends.length >= sent.length, { about: 'every turn is over' });
      exits = () => swarm.told('process.exited');
      expect(most).toBeGreaterThan(MAX_PROCESSES / 2);
      expect(most).toBeLessThanOrEqual(MAX_PROCESSES);
    }
    expect(ends.map(({ eventId }) => eventId).toSorted()).toEqual(sent.map(({ id }) => id).toSorted());
    const dead = new Set(ends.filter((end) => outcomeOf(end) === 'E_DEAD_LETTER').map(({ eventId }) => eventId));
    for (const end of ends) if (!dead.has(end.eventId)) expect(outcomeOf(end)).toStartWith('You said: ');
    for (const { id, input } of sent) if (input.startsWith('poison')) expect(dead).toContain(id);

    await readStore(folder.path, async (journal) => {
      await expectConversations(journal, sent, dead);
      // There are about 60 backoffs in `npm run proof`, and 6 to 16 with fewer instances.
      expect(checkBackoff(journal, exits())).toBeGreaterThan(sampleStep === 1 ? 20 : 2);
    });
  },
);

test('R-03 traffic does not bring a start forward, neither after crashes in a turn nor after failed starts', async () => {
  await using folder = await temporaryFolder();
  let exits: () => readonly HeardLine[];
  {
    await using swarm = await openSwarm(folder.path, {
      agents: [
        scriptedAgent('poisoned', { extensions: [extensionOf('unsteady', { seed: SEED })] }),
        scriptedAgent('broken', { extensions: [extensionOf('unsteady')] }),
      ],
      policy: { ...quickPolicy, restart, spares: 0 },
    });
    const seen = (agent: string) => swarm.told('process.exited').filter((line) => line.agent === agent).length;
    for (let count = 0; seen('poisoned') < 6 || seen('broken') < 6; count++) {
      await swarm.control.deliver({ agent: 'poisoned', input: `poison ${count}` });
      await swarm.control.deliver({ agent: 'broken', input: `hello ${count}` });
      await Bun.sleep(MUCH_TRAFFIC_MS);
    }
    exits = () => swarm.told('process.exited');
  }
  await readStore(folder.path, async (journal) => expect(checkBackoff(journal, exits())).toBeGreaterThanOrEqual(8));
});

/** Plans events for all instances, in mixed order. One event in thirty always ends its process. */
function planTraffic(): Sent[] {
  const random = seededRandom(SEED);
  const sent: Sent[] = [];
  for (let event = 0; event < EVENTS_EACH; event++) {
    for (let instance = 0; instance < INSTANCES; instance++) {
      const at = { agentName: names[instance % names.length] ?? '', instanceKey: `key-${instance}` };
      const id = `event-${instance}-${event}`;
      const verb = random.below(30) === 0 ? 'poison' : random.pick(['again nothing', 'hello']);
      sent.splice(random.below(sent.length + 1), 0, { at, id, input: `${verb} ${id}` });
    }
  }
  return sent;
}

/** Checks the conversations. They contain every input, also the input of a dead letter. */
async function expectConversations(journal: Journal, sent: readonly Sent[], dead: ReadonlySet<string>): Promise<void> {
  for (const [key, events] of Map.groupBy(sent, ({ at }) => at.instanceKey)) {
    const at = events[0]?.at ?? { agentName: '', instanceKey: key };
    expect(inputsOf((await journal.read(at)).messages)).toEqual(events.map(({ input }) => input));
    expect(await journal.pending(at)).toEqual([]);
    const letters = (await journal.deadLetters.list(at)).map(({ event }) => event.id);
    expect(letters).toEqual(events.map(({ id }) => id).filter((id) => dead.has(id)));
  }
}

/** Checks that after each crash, the next process started only after the backoff. Returns the number of backoffs. */
function checkBackoff(journal: Journal, exits: readonly HeardLine[]): number {
  const offset = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1_000 - performance.now();
  let waits = 0;
  for (const [name, ofInstance] of Map.groupBy(exits, ({ agent, instance }) => `${agent} ${instance}`)) {
    const [agentName = '', instanceKey = ''] = name.split(' ');
    const lives = livesOf(journal.scratchFolder({ agentName, instanceKey }));
    expect(lives).toHaveLength(ofInstance.length);
    let crashes = 0;
    for (const [index, { at, level }] of ofInstance.entries()) {
      if (level === 'warn') crashes += 1;
      const next = lives[index + 1];
      const wait = level === 'warn' ? backoffMs(crashes, restart) : 0;
      if (next === undefined || wait === 0) continue;
      waits += 1;
      const waited = next.startedAt * 10 - (at + offset);
      expect({ name, crashes, wait, waited, isEarly: waited < wait - LATE_MS }).toMatchObject({ isEarly: false });
    }
  }
  return waits;
}

/**
 * The tolerance, a third of the shortest backoff. The test learns of a crash shortly after its backoff began, and later
 * on a busy machine. Both times are also rounded to hundredths of a second.
 */
const LATE_MS = 100;

function livesOf(scratch: string): Life[] {
  const lines = readFileSync(join(scratch, livesFile), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Life);
}
