/**
 * Measures the cost of one process per agent. It prints three things: the time from the spawn to `ready`, compared with
 * a bare Bun child that sends one word over Bun's own ipc; the remaining time if a spare is used; and the memory of an
 * idle process.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@goondan/types';
import type { AgentStart } from '../packages/runtime/src/config/agent-start.ts';
import { agentLanguage } from '../packages/runtime/src/ipc/codec.ts';
import type { FromAgent } from '../packages/runtime/src/ipc/from-agent.ts';
import { newTag } from '../packages/runtime/src/orchestrator/guardian/process-tag.ts';
import { agentRunner } from '../packages/runtime/src/ports/runner-path.ts';
import { spawnChild } from '../packages/runtime/src/orchestrator/child/spawn-child.ts';
import { benchEvent } from './instant-agent.ts';
import type { Figures } from './figures.ts';
import { printTimings, summarise } from './measure.ts';
import { describeMemory } from './process-use.ts';

const ROUNDS = 40;
const host = { runTag: newTag('GOONDAN_RUN') };

export async function benchSpawn(): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'goondan-spawn-'));
  try {
    const bareChild = join(folder, 'bare.js');
    writeFileSync(bareChild, `process.on('message', () => undefined); process.send('ready');`);
    const [bare, ours, spare]: number[][] = [[], [], []];
    for (let round = 0; round < ROUNDS; round++) {
      bare?.push(await timeBare(bareChild));
      ours?.push(await timeStart(folder, 0));
      spare?.push(await timeStart(folder, 150));
    }
    printTimings('a process for an agent, until it is ready', [
      summarise('Bun.spawn with ipc, bare', bare ?? []),
      summarise('goondan, agent process', ours ?? []),
      summarise('goondan, a spare that waits', spare ?? []),
    ]);
    await printMemory(folder);
    return {};
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the time, in microseconds, until a bare Bun child has sent its first message. */
async function timeBare(program: string): Promise<number> {
  const said = Promise.withResolvers<void>();
  const startedAt = performance.now();
  const child = Bun.spawn([process.execPath, program], {
    ipc: () => said.resolve(),
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  await said.promise;
  const took = performance.now() - startedAt;
  child.kill('SIGKILL');
  await child.exited;
  return took * 1_000;
}

/**
 * Returns the microseconds from the spawn to `ready`. If `aheadMs` is not 0, the process is spawned that much earlier,
 * and the time is counted from `start` to `ready`.
 */
async function timeStart(folder: string, aheadMs: number): Promise<number> {
  const spawnedAt = performance.now();
  const agent = launch(folder);
  if (aheadMs > 0) await Bun.sleep(aheadMs);
  const startedAt = aheadMs > 0 ? performance.now() : spawnedAt;
  await agent.start();
  const took = performance.now() - startedAt;
  await agent.child.kill(0);
  return took * 1_000;
}

/**
 * Prints the memory of an agent process. Starts two processes, as in any swarm, so that they share the memory pages of
 * Bun itself.
 */
async function printMemory(folder: string): Promise<void> {
  const [idle, other] = [launch(folder), launch(folder)];
  await Promise.all([idle.start(), other.start()]);
  await Bun.sleep(500);
  console.log('\nan agent process in memory');
  console.log(`  ${'idle'.padEnd(46)} ${describeMemory(idle.child.pid)}`);
  for (const agent of [idle, other]) await agent.turn();
  await Bun.sleep(500);
  console.log(`  ${'idle, after a turn'.padEnd(46)} ${describeMemory(idle.child.pid)}`);
  for (const { child } of [idle, other]) await child.kill(0);
}

function launch(folder: string) {
  const cwd = join(folder, crypto.randomUUID());
  mkdirSync(join(cwd, 'state/workspaces/bench'), { recursive: true });
  const request = { name: 'bench', runner: agentRunner, frameFolder: `${cwd}-frames` };
  const child = spawnChild(host, agentLanguage, request);
  const waiting = new Map<FromAgent['type'], () => void>();
  child.channel.onMessage((message) => waiting.get(message.type)?.());
  const next = (type: FromAgent['type']) => new Promise<void>((resolve) => waiting.set(type, resolve));
  return {
    child,
    async start(): Promise<void> {
      const ready = next('ready');
      await child.channel.send({ type: 'start', plan: planFor(cwd) });
      await ready;
    },
    async turn(): Promise<void> {
      const done = next('turn.done');
      await child.channel.send({ type: 'turn', event: benchEvent(1), seq: 1 });
      await done;
    },
  };
}

function planFor(cwd: string): JsonObject {
  const script = [{ say: 'You said: {{input}}' }];
  const start: AgentStart = {
    address: { agentName: 'bench', instanceKey: 'default' },
    agent: { agentName: 'bench', models: { 'Model/m': { provider: 'scripted', model: 'm', options: { script } } } },
    agents: [{ name: 'bench' }],
    store: { stateRoot: join(cwd, 'state'), workspaceId: 'bench' },
    isNew: true,
    cwd,
  };
  // The cast is safe: `AgentStart` contains only JSON.
  return start as unknown as JsonObject;
}
