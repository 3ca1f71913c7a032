/**
 * Measures how many messages per second the orchestrator passes to ten agents, from the inbox to the answer. All
 * messages are on disk.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSwarm, type Swarm } from '@goondan/runtime';
import { measureSync } from './counting-fs.ts';
import { durableAgent, withDisk } from './durable-agent.ts';

const AGENTS = 10;
const MESSAGES = 400;
/** The number of messages in progress per agent. */
const AT_ONCE = 4;

export async function benchSwarm(): Promise<void> {
  const stateRoot = await mkdtemp(join(tmpdir(), 'goondan-bench-swarm-'));
  const options = { script: [{ say: 'You said: {{input}}' }] };
  const models = { 'Model/scripted': { provider: 'scripted', model: 'bench', options } };
  const swarm = await startSwarm({
    name: 'bench',
    workspace: 'bench',
    stateRoot,
    agents: [{ agentName: 'echo', models }],
  });
  try {
    await sendAll(swarm, AGENTS);
    const many = await sendAll(swarm, MESSAGES);
    const one = await sendAll(swarm, MESSAGES / AGENTS, 1);
    const alone = await inOneProcess(MESSAGES / AGENTS);
    console.log('\nmessages a second, from the inbox to the answer');
    print('one agent in this process, durable, no syncs', alone, alone);
    print('1 agent in a process of its own', one, alone);
    print(`${AGENTS} agents, each in a process of its own`, many, alone);
    console.log(`  a sync of this disk takes ${(await measureSync()).toFixed(0)} µs`);
  } finally {
    await swarm.stop();
    await rm(stateRoot, { recursive: true, force: true });
  }
}

/** Sends all messages. Returns the number of messages per second. */
async function sendAll(swarm: Swarm, messages: number, agents = AGENTS): Promise<number> {
  const startedAt = performance.now();
  let left = messages;
  const send = async (instanceKey: string) => {
    while (left-- > 0) await swarm.ask({ instanceKey, input: 'Hello' });
  };
  const senders = Array.from({ length: agents * AT_ONCE }, (_, index) => send(`agent-${index % agents}`));
  await Promise.all(senders);
  return (messages / (performance.now() - startedAt)) * 1_000;
}

function inOneProcess(messages: number): Promise<number> {
  return withDisk(async (journal) => {
    const agent = await durableAgent(journal, 1);
    for (let turn = 0; turn < messages; turn++) await agent.turn();
    const startedAt = performance.now();
    for (let turn = 0; turn < messages; turn++) await agent.turn();
    return (messages / (performance.now() - startedAt)) * 1_000;
  });
}

function print(name: string, perSecond: number, first: number): void {
  console.log(`  ${name.padEnd(46)} ${perSecond.toFixed(0).padStart(8)}/s   ${(perSecond / first).toFixed(2)}×`);
}
