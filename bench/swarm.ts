/**
 * Measures how many messages per second a swarm answers with ten agent processes and with one, from the inbox to the
 * answer. All messages are synced to the disk. Two swarms run side by side: one records every layer, one does not.
 */
import { durableAgent, withDisk } from './durable-agent.ts';
import type { Figures } from './figures.ts';
import { medianOf } from './measure.ts';
import { startHost, type SwarmHost } from './start-host.ts';
import type { SentMessages } from './swarm-host.ts';

const AGENTS = 10;
/** The number of messages in progress per agent. */
const AT_ONCE = 4;
const ROUNDS = 3;
const MESSAGES_EACH = 100;
/** The number of turns of each process before the row that shows compiled code. */
const TURNS_BEFORE_WARM = 1_000;
const TURNS_BEFORE_MEMORY = 200;

export async function benchSwarm(): Promise<Figures> {
  const recording = startHost({ trace: 'on' });
  const silent = startHost({ trace: 'off' });
  try {
    await recording.start();
    await silent.start();
    const ten = await sendRounds([recording, silent], AGENTS);
    const one = await sendRounds([recording, silent], 1);
    const alone = await inOneProcess(MESSAGES_EACH);
    const memory = await memoryAfter(silent, TURNS_BEFORE_MEMORY);
    // After all other figures: these messages also warm up the orchestrators, and agents give back memory after them.
    const warm = await sendWarm([recording, silent], AGENTS);
    const [from, to] = [MESSAGES_EACH + 1, (ROUNDS + 1) * MESSAGES_EACH];
    console.log(`\nmessages a second, from the inbox to the answer  (turns ${from} to ${to} of each process)`);
    print('one agent in this process, durable, syncs apart', { perSecond: alone, processorMs: Number.NaN }, alone);
    print('1 agent in a process of its own', one[0], alone);
    print('  the same, nothing recorded', one[1], alone);
    print(`${AGENTS} agents, each in a process of its own`, ten[0], alone);
    print('  the same, nothing recorded', ten[1], alone);
    print(`  after ${TURNS_BEFORE_WARM} turns of each process`, warm[0], alone);
    print(`  after ${TURNS_BEFORE_WARM} turns, nothing recorded`, warm[1], alone);
    const recorded = ten[0].processorMs / ten[1].processorMs;
    console.log(`  recording every layer takes ${recorded.toFixed(2)}× the processor time of a message`);
    console.log(`  an agent process after ${TURNS_BEFORE_MEMORY} turns: ${memory.toFixed(1)} MB of its own`);
    return { 'swarm.ten': ten[0].perSecond, 'swarm.one': one[0].perSecond, 'swarm.recorded': recorded };
  } finally {
    await recording.end();
    await silent.end();
  }
}

/** Lets the swarms take turns. Returns the medians of each swarm. */
async function sendRounds(hosts: readonly [SwarmHost, SwarmHost], agents: number) {
  const messages = agents * MESSAGES_EACH;
  const sent: [SentMessages[], SentMessages[]] = [[], []];
  for (let round = -1; round < ROUNDS; round++) {
    for (const index of [0, 1] as const) {
      const options = { prefix: `of-${agents}`, keys: agents, messages, atOnce: agents * AT_ONCE };
      const measured = await hosts[index].ask('send', options);
      if (round >= 0) sent[index].push(measured);
    }
  }
  return [medians(sent[0]), medians(sent[1])] as const;
}

/** Measures one more round of the processes of `sendRounds`, when they have compiled the code of a turn. */
async function sendWarm(hosts: readonly [SwarmHost, SwarmHost], agents: number) {
  const options = { prefix: `of-${agents}`, keys: agents, atOnce: agents * AT_ONCE };
  const missing = TURNS_BEFORE_WARM - (ROUNDS + 1) * MESSAGES_EACH;
  const send = async (host: SwarmHost) => {
    await host.ask('send', { ...options, messages: agents * missing });
    return host.ask('send', { ...options, messages: agents * MESSAGES_EACH });
  };
  return [await send(hosts[0]), await send(hosts[1])] as const;
}

function medians(sent: readonly SentMessages[]): SentMessages {
  return {
    perSecond: medianOf(sent.map(({ perSecond }) => perSecond)),
    processorMs: medianOf(sent.map(({ processorMs }) => processorMs)),
  };
}

/** Returns the memory that one more agent process has of its own after so many turns. */
async function memoryAfter(host: SwarmHost, turns: number): Promise<number> {
  const before = await host.ask('memory');
  await host.ask('send', { prefix: 'memory', keys: 1, messages: turns, atOnce: 1 });
  await Bun.sleep(500);
  return (await host.ask('memory')).agentsMegabytes - before.agentsMegabytes;
}

function inOneProcess(messages: number): Promise<number> {
  return withDisk({ syncs: 'left out' }, async (journal) => {
    const agent = await durableAgent(journal, { steps: 1 });
    for (let turn = 0; turn < messages; turn++) await agent.turn();
    const startedAt = performance.now();
    for (let turn = 0; turn < messages; turn++) await agent.turn();
    return (messages / (performance.now() - startedAt)) * 1_000;
  });
}

function print(name: string, { perSecond, processorMs }: SentMessages, first: number): void {
  const used = Number.isNaN(processorMs) ? '' : `   ${processorMs.toFixed(2)} ms of processor time a message`;
  console.log(`  ${name.padEnd(46)} ${perSecond.toFixed(0).padStart(8)}/s   ${(perSecond / first).toFixed(2)}×${used}`);
}
