/**
 * The program of a swarm under measurement. The swarm has a process of its own, so that its memory and its processor
 * time are not those of the benchmark. The same process sends the messages: a sender elsewhere would measure the
 * control socket too. `startHost` starts this program and calls its functions.
 */
import { startSwarm, type Swarm } from '@goondan/runtime';
import { memoryOf, processorMs } from './process-use.ts';

export interface SentMessages {
  readonly perSecond: number;
  /** Processor time of the orchestrator and of all agent processes that are alive, per message. */
  readonly processorMs: number;
}

export interface SwarmMemory {
  readonly orchestratorMegabytes: number;
  readonly agentProcesses: number;
  /** Memory of all agent processes that they share with no other process. */
  readonly agentsMegabytes: number;
}

export interface HostCalls {
  /** Starts the swarm. Returns the milliseconds until it was ready. */
  start(options: { readonly bundleFolder: string; readonly stateRoot: string }): number;
  /** Sends messages to `keys` conversations, `atOnce` at a time, and waits for all answers. */
  send(options: SendOptions): SentMessages;
  memory(): SwarmMemory;
  stop(): void;
}

export interface SendOptions {
  readonly prefix: string;
  readonly keys: number;
  readonly messages: number;
  readonly atOnce: number;
}

export interface HostRequest {
  readonly call: keyof HostCalls;
  readonly argument: never;
}

export type HostAnswer = { readonly result: unknown } | { readonly error: string };

let swarm: Swarm | undefined;

const calls: { [Name in keyof HostCalls]: (argument: Parameters<HostCalls[Name]>[0] & {}) => Promise<unknown> } = {
  async start(options) {
    const startedAt = performance.now();
    swarm = await startSwarm({ ...options, onLog: () => undefined });
    return performance.now() - startedAt;
  },
  send: (options) => send(running(), options),
  async memory() {
    const pids = await agentPids(running());
    const agents = pids.map((pid) => memoryOf(pid)?.ownMegabytes ?? 0);
    return {
      orchestratorMegabytes: memoryOf(process.pid)?.residentMegabytes ?? Number.NaN,
      agentProcesses: pids.length,
      agentsMegabytes: agents.reduce((sum, megabytes) => sum + megabytes, 0),
    };
  },
  async stop() {
    await swarm?.stop();
    swarm = undefined;
  },
};

if (import.meta.main) {
  process.on('message', ({ call, argument }: HostRequest) => {
    calls[call](argument).then(
      (result) => process.send?.({ result }),
      (error: unknown) => process.send?.({ error: error instanceof Error ? error.message : String(error) }),
    );
  });
  process.on('disconnect', () => process.exit(1));
}

function running(): Swarm {
  if (swarm === undefined) throw new Error('The swarm is not started.');
  return swarm;
}

async function send(to: Swarm, { prefix, keys, messages, atOnce }: SendOptions): Promise<SentMessages> {
  const before = await usedBy(to);
  const startedAt = performance.now();
  let next = 0;
  const sendNext = async () => {
    while (next < messages) {
      const { result } = await to.ask({ instanceKey: `${prefix}-${next++ % keys}`, input: 'Hello' });
      if (result.finishReason === 'error') throw new Error(result.error?.message);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sendNext));
  const seconds = (performance.now() - startedAt) / 1_000;
  return { perSecond: messages / seconds, processorMs: ((await usedBy(to)) - before) / messages };
}

async function usedBy(swarmInUse: Swarm): Promise<number> {
  const pids = [process.pid, ...(await agentPids(swarmInUse))];
  return pids.reduce((sum, pid) => sum + processorMs(pid), 0);
}

async function agentPids(swarmInUse: Swarm): Promise<number[]> {
  const { instances } = await swarmInUse.status();
  return [...new Set(instances.flatMap(({ pid }) => (pid === undefined ? [] : [pid])))];
}
