/**
 * Runs an agent process: waits for its plan, starts the agent, handles messages, and ends.
 *
 * 1. A ping is answered at once, whatever else runs; only a blocked event loop leaves a ping unanswered.
 * 2. Messages that arrive during the start are handled after it, in order.
 * 3. The process ends once. Before that, it sends its queued messages and writes its unsaved data, within
 *    `LAST_WORDS_MS`.
 * 4. If the orchestrator exits, the process ends at once. No input is lost, because every accepted input is on disk.
 */
import { GoondanError, type JsonObject } from '@goondan/types';
import type { AgentStart } from '../../config/agent-start.ts';
import { codeFolders } from '../../config/code-folders.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { ReplaySource } from '../../trace/replay.ts';
import { waitAtMost } from '../../ports/clock.ts';
import { shortIdOfEvent } from '../../ports/turn-ids.ts';
import { describeAgent, tellChanges } from './describe-agent.ts';
import { type InstanceMessage, openInstance } from './open-instance.ts';
import type { AgentChannel, ProcessHost } from './process-host.ts';
import { ProcessLog } from './process-log.ts';

/** The grace if a drain message contains none; the same as the default of `Swarm.policy.shutdown`. */
const GRACE_MS = 30_000;
/**
 * The supervisor kills a process after its grace and records the reason. If the supervisor does not, the process ends
 * itself after this additional time.
 */
const OVERTIME_MS = 5_000;
const LAST_WORDS_MS = 1_000;
/** A process that has no plan after this time is a spare: it loads modules while it waits. */
const SPARE_AFTER_MS = 50;
/**
 * The maximum number of messages queued during the start. The orchestrator sends far fewer; if there are more,
 * something is wrong and the process ends.
 */
const MOST_QUEUED = 1_000;

export function runAgentProcess(channel: AgentChannel, host: ProcessHost): RunningConversation {
  const process = new AgentProcess(channel, host);
  process.run();
  return process;
}

/** A conversation in a process, for the process that it shares with others. */
export interface RunningConversation {
  /** Writes unsaved data to disk, because the process is about to end. Never rejects. */
  flush(): Promise<void>;
  /** Releases the conversation without its process. Rejects if the conversation cannot be released. */
  abandon(): Promise<void>;
}

type Drain = Extract<ToAgent, { readonly type: 'drain' }>;

class AgentProcess implements RunningConversation {
  readonly #log: ProcessLog;
  #phase: 'waiting' | 'starting' | 'open' | 'ending' = 'waiting';
  /** Messages that arrived during the start. */
  #queued: InstanceMessage[] = [];
  #instance: Awaited<ReturnType<typeof openInstance>> | undefined;
  #started: Promise<void> = Promise.resolve();
  #isDraining = false;
  #isStoreElsewhere = false;
  #callOffOvertime: () => void = () => undefined;

  constructor(
    private readonly channel: AgentChannel,
    private readonly host: ProcessHost,
  ) {
    this.#log = new ProcessLog(channel, host.clock);
  }

  async flush(): Promise<void> {
    await this.#instance?.flush().catch(() => undefined);
  }

  async abandon(): Promise<void> {
    await this.#started;
    await this.#instance?.abandon();
  }

  run(): void {
    this.host.onUncaught((thrown) => this.#crash('process.uncaught', 'Uncaught error', thrown));
    this.host.onTerminate(() => void this.#drain(GRACE_MS));
    // This must be the first listener, so that no other listener logs that a call failed because the orchestrator
    // exited.
    this.channel.onClose(() => {
      if (this.#phase !== 'ending') this.host.exit(1);
    });
    this.channel.onRefused((error) =>
      this.#crash('frame.refused', 'A message of the orchestrator was rejected', error),
    );
    this.channel.onMessage((message) => this.#hear(message));
    this.host.clock.after(SPARE_AFTER_MS, () => void (this.#phase === 'waiting' && this.host.warmUp()));
  }

  #hear(message: ToAgent): void {
    switch (message.type) {
      case 'ping':
        // If a pong cannot be sent, the orchestrator treats the process as blocked.
        return void this.channel.send({ type: 'pong', n: message.n }).catch(() => undefined);
      case 'start':
        return this.#begin(message.plan);
      case 'drain':
        return void this.#drain(message.graceMs, message);
      case 'store.ended':
        // The store hears its answers itself, because the start and the last writes wait for them.
        return;
      default:
        return this.#handOn(message);
    }
  }

  #handOn(message: InstanceMessage): void {
    if (this.#phase === 'starting') {
      this.#queued.push(message);
      if (this.#queued.length <= MOST_QUEUED) return;
      const thrown = new GoondanError('E_IPC_FULL', `${MOST_QUEUED} messages arrived while the agent started.`);
      return this.#crash('process.flooded', 'The agent cannot start', thrown);
    }
    const isTurn = message.type === 'turn' || message.type === 'turn.ahead';
    const isWanted = this.#phase === 'open' && !(this.#isDraining && isTurn);
    if (isWanted) return this.#instance?.hear(message);
    this.#log.write(
      'warn',
      'message.ignored',
      `A message "${message.type}" was ignored, because the agent is not open or is about to end.`,
    );
  }

  #begin(plan: JsonObject): void {
    if (this.#phase !== 'waiting') {
      return this.#log.write('warn', 'message.ignored', 'A second message "start" was ignored.');
    }
    this.#phase = 'starting';
    // Safe: the plan comes from our own orchestrator, which made it from checked data.
    this.#started = this.#start(plan as unknown as AgentStart);
  }

  async #start(start: AgentStart): Promise<void> {
    try {
      this.#isStoreElsewhere = 'isElsewhere' in start.store;
      const { agent, masked = [], telemetry } = start;
      const secrets = [...masked, ...(agent.secrets ?? []), ...Object.values(telemetry?.headers ?? {})];
      this.#log.prepare(secrets, codeFolders(agent));
      if (start.replay !== undefined) return await this.#replay(start, start.replay);
      const instance = await openInstance(start, {
        channel: this.channel,
        host: this.host,
        log: this.#log,
        onLost: (eventId, thrown) => this.#loseTurn(eventId, thrown),
      });
      const said = this.channel.send({ type: 'ready', ...describeAgent(instance.agent, this.host.clock.now()) });
      tellChanges(instance.agent, this.channel, this.host.clock);
      // Open as soon as the frame is in the queue: a crash after it is not a failed start.
      this.#open(instance);
      await said;
    } catch (error) {
      await this.#failStart(error);
    }
  }

  /**
   * Replays a turn. The conversation, the answers of other agents and the answers of people come from the recording.
   */
  async #replay(
    { agent, agents, connections = [], address, cwd, changes = [] }: AgentStart,
    replay: ReplaySource,
  ): Promise<void> {
    const { replayTurn } = await import('../replay/replay-turn.ts');
    const { host } = this;
    host.moveTo(cwd);
    host.answerOwnPackages(agent.bundleFolder);
    host.watchDraws();
    const outside = {
      clock: host.clock,
      engine: { catalog: () => agents },
      connections: () => connections,
      changes: changes.map(({ fromStep, agent: plan }) => ({ fromStep, plan: { ...plan, ...address } })),
    };
    await this.channel.send({ type: 'replayed', outcome: await replayTurn({ ...agent, ...address }, replay, outside) });
    await this.#end(0);
  }

  #open(instance: Awaited<ReturnType<typeof openInstance>>): void {
    // The process may have begun to end during the start.
    if (this.#phase !== 'starting') return;
    this.#instance = instance;
    this.#phase = 'open';
    void instance.sendUndelivered();
    for (const message of this.#queued.splice(0)) this.#handOn(message);
  }

  async #failStart(thrown: unknown): Promise<void> {
    this.#log.writeThrown('error', 'start.failed', 'The agent cannot start', thrown);
    const error = this.#log.frameError(thrown, 'E_AGENT_START');
    this.channel.send({ type: 'start.failed', error }).catch(() => undefined);
    await this.#end(1);
  }

  /**
   * Reports a lost turn. From the error code, the orchestrator decides whether the event caused the loss, and whether a
   * retry can help.
   */
  #loseTurn(eventId: string, thrown: unknown): void {
    if (this.#hasEnded()) return;
    const error = this.#log.frameError(thrown, 'E_UNEXPECTED');
    this.#log.writeThrown('error', 'turn.lost', `Turn ${shortIdOfEvent(eventId)} ended without a result`, thrown);
    this.channel.send({ type: 'turn.lost', eventId, error }).catch(() => undefined);
    void this.#end(1);
  }

  /**
   * Finishes the running turn, cleans up, reports the end and exits. Calls that wait for a person are ended, unless the drain
   * is unhurried. A second drain does nothing else.
   */
  async #drain(graceMs: number, { cleanUpMs, isUnhurried }: Omit<Drain, 'type' | 'graceMs'> = {}): Promise<void> {
    // A turn that comes during the start is ignored, so that nothing waits before there is an instance.
    if (isUnhurried !== true) this.#instance?.endWaits();
    if (this.#isDraining || this.#hasEnded()) return;
    this.#isDraining = true;
    const { clock } = this.host;
    const deadline = clock.elapsed() + graceMs;
    this.#callOffOvertime = clock.after(graceMs + OVERTIME_MS, () => this.host.exit(1));
    await this.#started;
    if (this.#hasEnded()) return;
    const end = (await this.#instance?.close(Math.max(0, deadline - clock.elapsed()), cleanUpMs)) ?? 'closed';
    if (end === 'late') return this.#log.write('warn', 'drain.late', `The turn did not end within ${graceMs} ms.`);
    this.channel.send({ type: 'drained', ...(end === 'left' ? { leavesTurn: true } : {}) }).catch(() => undefined);
    await this.#end(0);
  }

  #crash(event: string, problem: string, thrown: unknown): void {
    if (this.#hasEnded()) return;
    if (this.#phase === 'starting') return void this.#failStart(thrown);
    this.#log.writeThrown('error', event, problem, thrown);
    void this.#end(1);
  }

  async #end(code: number): Promise<void> {
    if (this.#hasEnded()) return;
    this.#phase = 'ending';
    this.#callOffOvertime();
    await waitAtMost(this.host.clock, LAST_WORDS_MS, this.#sayLast());
    this.host.exit(code);
  }

  async #sayLast(): Promise<void> {
    const flushed = this.#instance?.flush();
    // A store that is elsewhere is reached through the channel.
    if (this.#isStoreElsewhere) await flushed;
    await Promise.all([flushed, this.channel.closeAfterFlush()]);
  }

  #hasEnded(): boolean {
    return this.#phase === 'ending';
  }
}
