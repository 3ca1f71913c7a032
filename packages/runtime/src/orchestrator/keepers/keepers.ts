/**
 * The keepers of a swarm: processes that hold connections of extensions, so that the connections outlive the processes
 * of agents.
 *
 * Invariants:
 * 1. There is one keeper for each agent, extension and, unless the instances share the connection, instance. While a
 *    changed connection replaces another one, each has its own keeper.
 * 2. A keeper starts with the first agent process that needs it. It ends when the plan no longer has its connection and
 *    no process uses it any more, when its conversation is deleted or reset, and with the swarm.
 * 3. At most `policy.maxKept` connections are kept. A process that needs another one gets the reason, and a socket at
 *    which a keeper will listen once there is room. A process whose keeper has no place for its socket gets the reason.
 */
import { rmSync } from 'node:fs';
import { type AgentAddress, GoondanError } from '@goondan/types';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import type { DeclaredExtension } from '../../config/declared-extension.ts';
import { keptExtensions, type KeptExtension } from '../../config/kept-extension.ts';
import type { SwarmStatus } from '../../control/swarm.ts';
import { toFrameError } from '../../ipc/check/frame-error.ts';
import { defined } from '../../json/defined.ts';
import { addressKey } from '../address/address-key.ts';
import type { SwarmListener } from '../instances/swarm-listener.ts';
import type { CurrentPlan } from '../plan/current-plan.ts';
import { Keeper, type KeeperDeps } from './keeper.ts';

export interface KeepersDeps extends Omit<KeeperDeps, 'policy' | 'mask'> {
  readonly currentPlan: CurrentPlan;
  /** Returns the path of a socket that no other keeper uses, in a folder that only the user can open. */
  readonly newSocket: () => string;
  /** Creates a working folder for a connection that the instances of an agent without a working folder share. */
  readonly makeSharedFolder: (agentName: string) => string;
}

/** The time for a connection to close before its keeper is killed. */
const GRACE_MS = 5_000;

export class Keepers implements SwarmListener {
  readonly #keepers = new Map<string, Keeper>();
  /** Keepers that are started once there is room, in this order. A process uses each of them. */
  readonly #waiting = new Map<string, Keeper>();
  /** Keepers whose processes have not exited yet. */
  readonly #leaving = new Map<Keeper, Promise<void>>();
  #isClosed = false;

  constructor(private readonly deps: KeepersDeps) {}

  /**
   * Returns the agent in the form that its process gets: each extension with a kept connection has the socket of its
   * keeper. Starts keepers that do not run. `cwd`: the working folder of the instance.
   */
  attach(address: AgentAddress, agent: DeclaredAgent, cwd: string): DeclaredAgent {
    const kept = new Map(keptExtensions(agent).map((each) => [each.declaration, each]));
    if (kept.size === 0) return agent;
    const { extensions = [] } = agent;
    return {
      ...agent,
      extensions: extensions.map((declaration): DeclaredExtension => {
        const each = kept.get(declaration);
        if (each === undefined) return declaration;
        const { entry } = each;
        try {
          const { keeper, refusal } = this.#keeperFor(address, agent, each, cwd);
          keeper.users.add(addressKey(address));
          const refused = refusal === undefined ? undefined : this.#refuse(address, each, refusal);
          const { socket } = keeper.plan.start;
          return { ...declaration, keeper: defined({ entry, socket, refused }) };
        } catch (error) {
          return { ...declaration, keeper: { entry, refused: this.#refuse(address, each, error) } };
        }
      }),
    };
  }

  /** Returns true if this is the working folder of a keeper. */
  worksIn(folder: string): boolean {
    const all = [...this.#keepers.values(), ...this.#waiting.values(), ...this.#leaving.keys()];
    return all.some(({ plan }) => plan.start.workdir === folder);
  }

  /** Ends the keepers that the plan in force no longer has. A keeper that a process still uses ends with its last use. */
  retain(): void {
    const wanted = this.#wanted();
    for (const [key, keeper] of this.#keepers) {
      if (keeper.users.size > 0 || wanted.has(connectionOf(keeper))) continue;
      void this.#end(key, keeper, this.#whyEnded(keeper));
    }
    for (const [key, { users }] of this.#waiting) if (users.size === 0) this.#waiting.delete(key);
    this.#fillRoom(wanted);
  }

  /** The process of this instance has exited, and uses no keeper any more. */
  processGone(address: AgentAddress): void {
    const user = addressKey(address);
    const used = this.#all().filter((keeper) => keeper.users.delete(user));
    if (used.length > 0) this.retain();
  }

  /** The process of this instance runs the plan in force, and uses no keeper of another plan any more. */
  settle(address: AgentAddress): void {
    const wanted = this.#wanted();
    for (const keeper of this.#all()) {
      if (!wanted.has(connectionOf(keeper))) keeper.users.delete(addressKey(address));
    }
    this.retain();
  }

  /** Ends the keepers of one conversation. Resolves when their processes have exited. */
  async endConversation({ agentName, instanceKey }: AgentAddress): Promise<void> {
    const ended = [...this.#keepers].filter(
      ([, { plan }]) => plan.start.agentName === agentName && plan.instanceKey === instanceKey,
    );
    const exits = ended.map(([key, keeper]) => this.#end(key, keeper, 'its conversation was deleted or reset'));
    this.#fillRoom(this.#wanted());
    await Promise.all(exits);
  }

  /** Ends all keepers, and kills the remaining ones after `graceMs`. Resolves when all have exited. */
  async drain(graceMs: number): Promise<void> {
    this.#isClosed = true;
    this.#waiting.clear();
    for (const [key, keeper] of this.#keepers) void this.#end(key, keeper, 'the swarm stops', graceMs);
    await Promise.all(this.#leaving.values());
  }

  /** Returns the statuses in the order of the starts. */
  describe(): Pick<SwarmStatus, 'kept'> {
    const kept = [...this.#keepers.values()].map((keeper) => keeper.status());
    return kept.length === 0 ? {} : { kept };
  }

  #all(): readonly Keeper[] {
    return [...this.#keepers.values(), ...this.#waiting.values()];
  }

  /** Starts waiting keepers while there is room. */
  #fillRoom(wanted: ReadonlySet<string>): void {
    for (const [key, keeper] of this.#waiting) {
      if (this.#isClosed || !wanted.has(connectionOf(keeper)) || !this.#hasRoom(slotOf(key))) continue;
      this.#waiting.delete(key);
      this.#start(key, keeper);
    }
  }

  #start(key: string, keeper: Keeper): void {
    this.#keepers.set(key, keeper);
    keeper.start();
  }

  /**
   * Returns the keeper, and starts it if it does not run. If there is no room, the keeper waits, and `refusal` is the
   * reason. Throws if there is no place for its socket.
   */
  #keeperFor(
    address: AgentAddress,
    agent: DeclaredAgent,
    kept: KeptExtension,
    cwd: string,
  ): { readonly keeper: Keeper; readonly refusal?: GoondanError } {
    const { agentName } = address;
    const { name, scope, digest } = kept;
    const shared = scope === 'agent';
    const slot = JSON.stringify([agentName, name, shared ? null : address.instanceKey]);
    const key = `${slot} ${digest}`;
    const known = this.#keepers.get(key) ?? this.#waiting.get(key);
    const folder = () => agent.workdir ?? (shared ? this.deps.makeSharedFolder(agentName) : cwd);
    const { environment, secrets = [] } = agent;
    if (known !== undefined) {
      known.move({ ...(environment === undefined ? {} : { environment }), workdir: folder(), secrets });
      return this.#keepers.has(key) ? { keeper: known } : { keeper: known, refusal: this.#noRoom() };
    }
    if (this.#isClosed) throw new GoondanError('E_SWARM_STOPPED', 'The swarm is stopping.');
    const workdir = folder();
    const { bundleFolder = workdir } = agent;
    const keeper = new Keeper(
      {
        start: {
          agentName,
          extension: name,
          root: kept.declaration.root,
          entry: kept.entry,
          config: kept.config,
          socket: this.deps.newSocket(),
          bundleFolder,
          workdir,
          secrets,
        },
        ...(shared ? {} : { instanceKey: address.instanceKey }),
        ...(environment === undefined ? {} : { environment }),
        digest,
      },
      { ...this.deps, policy: () => this.#policy(), mask: this.deps.currentPlan.value.secrets.maskFor(agentName) },
    );
    if (this.#hasRoom(slot)) {
      this.#start(key, keeper);
      return { keeper };
    }
    this.#waiting.set(key, keeper);
    return { keeper, refusal: this.#noRoom() };
  }

  #noRoom(): GoondanError {
    const { maxKept } = this.deps.currentPlan.value.settings;
    const message = `The swarm already keeps as many connections as policy.maxKept allows (${maxKept}). Raise it, or delete conversations that are no longer needed.`;
    return new GoondanError('E_MCP_KEPT', message);
  }

  /** A connection that replaces another one of the same name takes its place. */
  #hasRoom(slot: string): boolean {
    const { maxKept } = this.deps.currentPlan.value.settings;
    const slots = new Set([...this.#keepers.keys()].map(slotOf));
    return slots.has(slot) || slots.size < maxKept;
  }

  #refuse({ agentName, instanceKey }: AgentAddress, { name }: KeptExtension, thrown: unknown): string {
    const { code, message: reason } = toFrameError(thrown, 'E_UNEXPECTED');
    const message = `Extension/${name} of agent "${agentName}" gets no kept connection: ${reason}`;
    this.deps.log({
      time: this.deps.clock.now().toISOString(),
      level: 'warn',
      message: `${code}: ${message}`,
      agent: agentName,
      instance: instanceKey,
      extension: name,
      event: 'keeper.refused',
    });
    return message;
  }

  #policy() {
    const { supervision, heartbeat } = this.deps.currentPlan.value.settings;
    return { ...supervision, heartbeat };
  }

  /** Returns the connections of the plan in force. */
  #wanted(): ReadonlySet<string> {
    const { agents } = this.deps.currentPlan.value;
    const wanted = [...agents.values()].flatMap((agent) =>
      keptExtensions(agent).map(({ name, digest }) => JSON.stringify([agent.agentName, name, digest])),
    );
    return new Set(wanted);
  }

  #whyEnded({ plan: { start } }: Keeper): string {
    const agent = this.deps.currentPlan.value.agents.get(start.agentName);
    const isOther = agent !== undefined && keptExtensions(agent).some(({ name }) => name === start.extension);
    return isOther
      ? 'its transport, fromFile, attach or expose, a variable that it uses, or its extension has changed'
      : 'the agent no longer keeps this connection';
  }

  #end(key: string, keeper: Keeper, reason: string, graceMs = GRACE_MS): Promise<void> {
    this.#keepers.delete(key);
    const gone = keeper.end(graceMs, reason).then(() => {
      this.#leaving.delete(keeper);
      // A killed keeper leaves its socket behind.
      rmSync(keeper.plan.start.socket, { force: true });
    });
    this.#leaving.set(keeper, gone);
    return gone;
  }
}

/** Returns the agent, the extension and the instance that a key of a keeper names. */
function slotOf(key: string): string {
  return key.slice(0, key.lastIndexOf(' '));
}

function connectionOf({ plan: { start, digest } }: Keeper): string {
  return JSON.stringify([start.agentName, start.extension, digest]);
}
