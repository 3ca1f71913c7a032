/** Starts the process of an instance: one of its own, or a seat in a shared process of its agent. */
import { mkdirSync, rmdirSync } from 'node:fs';
import type { AgentAddress } from '@goondan/types';
import type { AgentStart } from '../../config/agent-start.ts';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import { mostInstancesOf } from '../../config/isolation.ts';
import type { SwarmTelemetry } from '../../config/telemetry-settings.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { ChildOutput } from '../../ipc/spawn.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LogLine } from '../../ports/log-line.ts';
import {
  type JournalLocation,
  scratchFolder,
  sharedFolder,
  workspaceFolder,
} from '../../workspace/layout/instance-paths.ts';
import type { NodeStore } from '../../store/store.ts';
import type { agentChildren } from '../child/agent-children.ts';
import { maskOutput } from '../child/child-output.ts';
import type { SharedEnd } from '../child/describe-shared-end.ts';
import type { StoreServer } from '../child/serve-store.ts';
import { SharedProcesses } from '../child/shared-processes.ts';
import type { SpawnOptions } from '../instances/instance.ts';
import type { Keepers } from '../keepers/keepers.ts';
import { cardsFor, type CurrentPlan } from '../plan/current-plan.ts';
import { type ProcessListener, type RunningProcess, superviseProcess } from '../supervision/supervise-process.ts';

export interface InstanceProcessesDeps {
  readonly currentPlan: CurrentPlan;
  readonly clock: Clock;
  readonly store: Pick<NodeStore, 'directory' | 'placement'>;
  readonly location: JournalLocation;
  /** Serves the conversations of a store that is elsewhere; absent when processes write files themselves. */
  readonly served?: Pick<StoreServer, 'startOf' | 'serve'>;
  readonly telemetry?: SwarmTelemetry;
  readonly keepers?: Keepers;
  readonly startChild: ReturnType<typeof agentChildren>['start'];
  readonly startShared: ReturnType<typeof agentChildren>['startShared'];
  /** Receives a line that a process printed. Must not throw. */
  printed(whose: Pick<LogLine, 'agent' | 'instance'>, output: ChildOutput): void;
  /** Receives a message of a shared process that concerns no conversation. Must not throw. */
  heardShared(agentName: string, pid: number, message: FromAgent): void;
  /** Receives the reason of a frame of a shared process that was rejected. Must not throw. */
  refusedShared(agentName: string, problem: string): void;
  /** Receives the end of a process that several conversations shared. Must not throw. */
  endedShared(agentName: string, end: SharedEnd): void;
}

export class InstanceProcesses {
  readonly #shared: SharedProcesses;

  constructor(private readonly deps: InstanceProcessesDeps) {
    this.#shared = new SharedProcesses({
      clock: deps.clock,
      start: (agent, request) => deps.startShared(agent, request),
      agentNow: (agentName) => deps.currentPlan.value.agents.get(agentName),
      heard: (agentName, pid, message) => deps.heardShared(agentName, pid, message),
      refused: (agentName, problem) => deps.refusedShared(agentName, problem),
      ended: (agentName, end) => deps.endedShared(agentName, end),
    });
  }

  /** Returns true if conversations of this agent share processes. */
  isShared(agentName: string): boolean {
    const agent = this.deps.currentPlan.value.agents.get(agentName);
    return agent !== undefined && mostInstancesOf(agent) > 1;
  }

  /** Returns the number of conversations of this agent that its shared processes admit. */
  roomFor(agentName: string): number {
    const agent = this.deps.currentPlan.value.agents.get(agentName);
    return agent === undefined ? 0 : this.#shared.roomFor(agent);
  }

  /** Returns the agent in the form that the process of this instance gets. */
  asRun(address: AgentAddress, agent: DeclaredAgent): DeclaredAgent {
    const { keepers, location } = this.deps;
    return keepers?.attach(address, agent, scratchFolder(location, address)) ?? agent;
  }

  /** Starts a process. May throw `E_PROCESS_START`. */
  spawn(
    address: AgentAddress,
    process: number,
    { watched, isAlone }: SpawnOptions,
    listener: ProcessListener<FromAgent>,
  ): RunningProcess<ToAgent> {
    const { clock, store, location, served, currentPlan, telemetry } = this.deps;
    const { agentName } = address;
    // Another node may own the conversation, or its folder may be gone: a process would write where it must not.
    store.placement.check(address);
    const { plan, agents, connections, secrets } = currentPlan.value;
    const agent = agents.get(agentName);
    if (agent === undefined) throw new Error(`"${agentName}" is no agent of this swarm`);
    const cwd = this.#workFolder(address, agent);
    const masked = secrets.earlierOfAgent(agent);
    const kept = served?.startOf(address);
    const start: AgentStart = {
      address,
      agent: this.asRun(address, agent),
      swarmName: plan.name,
      agents: cardsFor(plan, agent),
      connections: connections.get(agentName) ?? [],
      store: kept ?? location,
      cwd,
      isNew: kept === undefined ? store.directory.isNew(address) : kept.newEpoch !== undefined,
      ...(masked.length === 0 ? {} : { masked }),
      ...(watched.length === 0 ? {} : { watched }),
      ...(telemetry === undefined ? {} : { telemetry: telemetry.settings }),
    };
    const child = this.#child(address, process, agent, cwd, isAlone);
    served?.serve(child.channel, address);
    // Before the exit is supervised: the next process of the instance finds the folder gone, or makes it again.
    if (agent.isolation !== 'agent')
      void child.exited.then(
        () => this.#removeIfEmpty(cwd),
        () => undefined,
      );
    const heartbeat = () => currentPlan.value.settings.heartbeat;
    return superviseProcess(child, start, { heartbeat, clock }, listener);
  }

  #child(
    { agentName, instanceKey }: AgentAddress,
    process: number,
    agent: DeclaredAgent,
    cwd: string,
    isAlone: boolean,
  ) {
    const print = (whose: Pick<LogLine, 'agent' | 'instance'>) => (output: ChildOutput) =>
      this.deps.printed(whose, maskOutput(output, this.deps.currentPlan.value.secrets.maskFor(agentName)));
    if (isAlone || !this.isShared(agentName)) {
      const name = `agent ${agentName}/${instanceKey}, process ${process}`;
      return this.deps.startChild(agent, { name, cwd, onOutput: print({ agent: agentName, instance: instanceKey }) });
    }
    const name = `agent ${agentName}, shared by its conversations`;
    return this.#shared.admit(agent, { name, cwd, onOutput: print({ agent: agentName }) });
  }

  /** Removes the scratch folder of a process that has exited: on most disks an empty folder takes 4 KB. */
  #removeIfEmpty(scratch: string): void {
    if (this.deps.keepers?.worksIn(scratch) === true) return;
    try {
      rmdirSync(scratch);
    } catch {
      // It has files, or was deleted with the conversation.
    }
  }

  /** Returns the working folder of the process: conversations that may share a process have the same one. */
  #workFolder(address: AgentAddress, agent: DeclaredAgent): string {
    const { stateRoot, workspaceId } = this.deps.location;
    const isShared = agent.isolation === 'agent';
    const scratch = scratchFolder(this.deps.location, address);
    // On files, the process makes the folder of its conversation itself.
    if (!isShared && this.deps.served === undefined) return scratch;
    const folder = isShared ? sharedFolder(workspaceFolder(stateRoot, workspaceId), agent.agentName) : scratch;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }
}
