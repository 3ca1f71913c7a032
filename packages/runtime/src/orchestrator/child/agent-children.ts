/** Starts agent processes. Uses a spare if possible, otherwise a new process. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import type { RestartPolicy } from '../../config/swarm-policy.ts';
import { agentLanguage } from '../../ipc/codec.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import { seatedLanguage, SHARED } from '../../ipc/seated-language.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ChildOutput, ChildProcess, Spawn, SpawnRequest } from '../../ipc/spawn.ts';
import type { SharedChild } from './shared-process.ts';
import { WarmSpare } from './warm-spare.ts';

export type AgentChild = ChildProcess<ToAgent, FromAgent>;

export interface AgentChildrenDeps {
  readonly spawn: Spawn;
  /** The path of the program of an agent process. */
  readonly runner: string;
  /** An existing folder for messages that are too long for a frame. */
  readonly folder: string;
  readonly restart: RestartPolicy;
  readonly clock: Clock;
  /** The number of spares; 0 for none. */
  readonly spares: number;
}

export interface ChildRequest {
  /** The name of the process in error messages. */
  readonly name: string;
  /** The working folder of the instance; it need not exist. */
  readonly cwd: string;
  readonly onOutput: (output: ChildOutput) => void;
}

const sharedLanguage = seatedLanguage(agentLanguage);

export function agentChildren({ spawn, runner, folder, restart, clock, spares }: AgentChildrenDeps) {
  const spare = new WarmSpare(spawnSpare, restart, clock, spares);
  return {
    /** Starts the spares. */
    warmUp: () => void (spares > 0 && spare.fill()),
    /** Returns a process for an agent. The process gets its instance later. May throw `E_PROCESS_START`. */
    start(agent: DeclaredAgent, request: ChildRequest): AgentChild {
      mkdirSync(request.cwd, { recursive: true, mode: 0o700 });
      return takeSpare(agent, request) ?? spawnFor(agent, request);
    },
    /** Returns a process for many conversations of an agent. May throw `E_PROCESS_START`. */
    startShared(agent: DeclaredAgent, request: ChildRequest): SharedChild {
      mkdirSync(request.cwd, { recursive: true, mode: 0o700 });
      return spawn(sharedLanguage, { ...requestFor(agent, request), args: [SHARED] });
    },
    close: () => spare.close(),
  };

  /**
   * Takes a spare, unless the agent has its own environment variables. Such variables can only be set when a process
   * starts.
   */
  function takeSpare({ environment = {} }: DeclaredAgent, request: ChildRequest): AgentChild | undefined {
    if (spares === 0 || Object.keys(environment).length > 0) return undefined;
    const taken = spare.take();
    taken?.adopt(request.onOutput);
    return taken?.child;
  }

  function spawnFor(agent: DeclaredAgent, request: ChildRequest): AgentChild {
    return spawn(agentLanguage, requestFor(agent, request));
  }

  function requestFor({ environment }: DeclaredAgent, { name, onOutput }: ChildRequest): SpawnRequest {
    const declared = environment === undefined ? {} : { environment };
    return { name, runner, frameFolder: newFrameFolder(), onOutput, ...declared };
  }

  function spawnSpare() {
    let hear: (output: ChildOutput) => void = () => undefined;
    const child: AgentChild = spawn(agentLanguage, {
      name: 'an agent that is not known yet',
      runner,
      frameFolder: newFrameFolder(),
      onOutput: (output) => hear(output),
    });
    return {
      child,
      exited: child.exited,
      kill: (graceMs: number) => child.kill(graceMs),
      adopt: (onOutput: (output: ChildOutput) => void) => void (hear = onOutput),
    };
  }

  function newFrameFolder(): string {
    return join(folder, crypto.randomUUID());
  }
}
