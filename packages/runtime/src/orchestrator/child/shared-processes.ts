/** The shared processes of agents with `isolation: agent`. A full process is followed by another. */
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import { mostInstancesOf } from '../../config/isolation.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AgentChild, ChildRequest } from './agent-children.ts';
import type { SharedEnd } from './describe-shared-end.ts';
import { type SharedChild, SharedProcess } from './shared-process.ts';

export interface SharedProcessesDeps {
  readonly clock: Clock;
  /** Starts a shared process. May throw `E_PROCESS_START`. */
  readonly start: (agent: DeclaredAgent, request: ChildRequest) => SharedChild;
  /** Returns the agent of the plan in force. */
  readonly agentNow: (agentName: string) => DeclaredAgent | undefined;
  /** Receives messages of a process that concern no conversation. */
  readonly heard: (agentName: string, pid: number, message: FromAgent) => void;
  readonly refused: (agentName: string, problem: string) => void;
  /** Receives the end of a process that several conversations shared. */
  readonly ended: (agentName: string, end: SharedEnd) => void;
}

export class SharedProcesses {
  readonly #processes = new Map<string, Set<SharedProcess>>();

  constructor(private readonly deps: SharedProcessesDeps) {}

  /** Returns the number of conversations of this agent that the running processes admit. */
  roomFor(agent: DeclaredAgent): number {
    let room = 0;
    for (const process of this.#of(agent)) room += process.roomFor(agent);
    return room;
  }

  /** Returns a seat: in the oldest process with room, or else in a new one. May throw `E_PROCESS_START`. */
  admit(agent: DeclaredAgent, request: ChildRequest): AgentChild {
    for (const process of this.#of(agent)) if (process.roomFor(agent) > 0) return process.admit();
    return this.#start(agent, request).admit();
  }

  #start(agent: DeclaredAgent, request: ChildRequest): SharedProcess {
    const { agentName } = agent;
    const child = this.deps.start(agent, request);
    const process: SharedProcess = new SharedProcess(child, agent, {
      clock: this.deps.clock,
      agentNow: () => this.deps.agentNow(agentName),
      heard: (message) => this.deps.heard(agentName, child.pid, message),
      refused: (problem) => this.deps.refused(agentName, problem),
      ended: (end) => this.deps.ended(agentName, end),
    });
    const processes = this.#processes.get(agentName) ?? new Set();
    this.#processes.set(agentName, processes.add(process));
    void child.exited.then(() => {
      processes.delete(process);
      if (processes.size === 0 && this.#processes.get(agentName) === processes) this.#processes.delete(agentName);
    });
    return process;
  }

  #of(agent: DeclaredAgent): Iterable<SharedProcess> {
    return mostInstancesOf(agent) > 1 ? (this.#processes.get(agent.agentName) ?? []) : [];
  }
}
