/**
 * Simulates one life of the machine, from its start to its end or to a crash. First it finishes pending work, then it
 * serves the client.
 */
import { type AgentAddress, type AgentEvent, GoondanError } from '@goondan/types';
import type { ConversationStore } from '../../agent/conversation/conversation-store.ts';
import { openJournal, type Journal } from '../journal/journal.ts';
import type { StorePorts } from '../store-ports.ts';
import { runScriptedTurn } from './run-scripted-turn.ts';
import { simpleRecords } from './simulated-turn.ts';
import { simulatedLimits, simulatedLocation } from './simulated-machine.ts';
import { BETWEEN, type Input, type Workload } from './workload.ts';
import { noteReset, resetAfter, resetBefore, statesAfter, statesBefore, type World } from './world.ts';

/** The part of a store with which the orchestrator accepts input. */
export type LivedInput = Pick<Journal, 'accept' | 'pendingEntries' | 'handled' | 'instances' | 'hasWork' | 'reset'>;

/** The part of a store with which an agent process runs turns. */
export interface LivedTurns extends ConversationStore, Pick<Journal, 'recover' | 'close'> {
  readonly outbox: {
    pending(instance: AgentAddress): Promise<readonly { readonly key: string }[]>;
    acknowledge(instance: AgentAddress, key: string): Promise<void>;
  };
}

/** What the client and the turns do in a life. */
export interface Life {
  readonly workload: Workload;
  readonly world: World;
  /** The number of inputs that the client sends in this life and in earlier lives together. */
  readonly inputs: number;
  /** If true, conversations are also read before they are recovered. */
  readonly isWatched: boolean;
  /** Returns true if the simulation continues after this error, as the turn runner does after a temporary error. */
  readonly survives?: (error: unknown) => boolean;
}

export async function live(life: Life & { readonly ports: StorePorts }): Promise<void> {
  // There are two journals, as in production: the orchestrator's journal accepts input, and the agent's journal runs
  // turns.
  const orchestrator = await openJournal(life.ports, simulatedLocation, simulatedLimits);
  // What a killed process had accepted without a sync is durable before an agent is told of it.
  await orchestrator.openInbox();
  const agent = await openJournal(life.ports, simulatedLocation, simulatedLimits);
  await serve(orchestrator, agent, life);
  await agent.close();
  await orchestrator.close();
}

export async function serve(orchestrator: LivedInput, agent: LivedTurns, life: Life): Promise<void> {
  const client = new Client(orchestrator, life);
  for (;;) {
    try {
      await wake(orchestrator, agent, life);
      await drain(orchestrator, agent, life, client);
      while (client.hasMore) {
        await client.sendNext();
        await drain(orchestrator, agent, life, client);
      }
      return;
    } catch (error) {
      if (!life.survives?.(error)) throw error;
    }
  }
}

async function wake(orchestrator: LivedInput, agent: LivedTurns, { isWatched }: Life): Promise<void> {
  for (const instance of await orchestrator.instances()) {
    if (isWatched) await checkReadWithoutLock(agent, instance);
    else if (await orchestrator.hasWork(instance)) await agent.recover(instance);
  }
}

class Client {
  readonly #orchestrator: LivedInput;
  readonly #life: Life;
  #isSending = false;
  /**
   * Events whose turns were committed, but whose acceptance was lost before it was acknowledged. They are accepted
   * again and then skipped.
   */
  readonly #lost = new Set<string>();

  constructor(orchestrator: LivedInput, life: Life) {
    this.#orchestrator = orchestrator;
    this.#life = life;
  }

  get hasMore(): boolean {
    return this.#next !== undefined;
  }

  /**
   * Sends the next input. If an input was not acknowledged before a crash, sends it again, because the client cannot
   * know whether it arrived.
   */
  async sendNext(): Promise<void> {
    const input = this.#next;
    if (!input || this.#isSending) return;
    this.#isSending = true;
    try {
      await this.#send(input);
    } finally {
      this.#isSending = false;
    }
  }

  async #send(input: Input): Promise<void> {
    const { workload, world } = this.#life;
    world.sent.push(input.event.id);
    const isHandled = (id: string) => world.committed.includes(`turn-${id}`);
    const { duplicate } = await this.#orchestrator.accept(input.instance, input.event);
    if (!duplicate && isHandled(input.event.id)) this.#lost.add(input.event.id);
    world.acknowledged.push(input.event.id);
    if (!input.isSentTwice) return;
    // Sends a late duplicate of every input so far, handled or not.
    for (const { instance, event } of workload.inputs.slice(0, world.acknowledged.length)) {
      const again = await this.#orchestrator.accept(instance, event);
      if (!again.duplicate) throw new Error(`${event.id} was accepted twice`);
      const isWrong = again.pending && isHandled(event.id) && !this.#lost.has(event.id);
      if (isWrong) throw new Error(`${event.id} was handled and is said to be pending`);
    }
  }

  async sendDuringTurn(): Promise<void> {
    if (this.#next?.isSentDuringTurn) await this.sendNext();
  }

  get #next(): Input | undefined {
    const { workload, world, inputs } = this.#life;
    return workload.inputs.slice(0, inputs)[world.acknowledged.length];
  }
}

/** Runs turns until no instance has work left, because the turn of one instance may have sent input to another. */
async function drain(orchestrator: LivedInput, agent: LivedTurns, life: Life, client: Client): Promise<void> {
  let rounds = 0;
  for (let isIdle = false; !isIdle;) {
    isIdle = true;
    rounds += 1;
    if (rounds > life.workload.inputs.length + 1) throw new Error('the same events are pending again and again');
    for (const instance of life.workload.instances) {
      const [entry] = await orchestrator.pendingEntries(instance);
      if (!entry) continue;
      const { seq, event } = entry;
      isIdle = false;
      const input = inputOf(life.workload, event);
      if (input.setsState === 'before' || input.setsState === 'both') await setStateBefore(agent, input, life);
      if (input.isAfterStray) await leaveStray(agent, input);
      await resetInstead(orchestrator, agent, input, seq, life);
      await runTurn(agent, input, seq, life, client);
      // As after `turn.done`. Sometimes the orchestrator ends before it notes it.
      if (seq % 3 !== 0) orchestrator.handled(instance, event.id);
      if (input.reset === 'after') await reset(orchestrator, agent, input, resetAfter(`turn-${event.id}`), life);
      await fetchAnswers(agent, instance, life);
    }
  }
}

async function runTurn(
  agent: LivedTurns,
  input: Input,
  seq: number,
  { workload, world }: Life,
  client: Client,
): Promise<void> {
  const { crashesBeforeDeadLetter } = workload;
  const meanwhile = () => client.sendDuringTurn();
  const committed = world.committed.length;
  await runScriptedTurn({ store: agent, world, input, seq, crashesBeforeDeadLetter, meanwhile });
  // A duplicate event does not start a turn.
  const isTurn = world.committed.length > committed;
  const name = statesAfter(`turn-${input.event.id}`);
  if (!isTurn || input.setsState === 'never' || input.setsState === 'before') return;
  await setState(agent, input, name, world);
  world.statesKept.push(name);
}

/**
 * Sets a state before a turn, as `register` can do, even in a process that resumes an interrupted turn. The store
 * rejects the state while a turn is open. An event that is delivered again after its commit has no turn, so no state is
 * set before it.
 */
async function setStateBefore(agent: LivedTurns, input: Input, { world }: Life): Promise<void> {
  if (world.committed.includes(`turn-${input.event.id}`)) return;
  try {
    await setState(agent, input, statesBefore(`turn-${input.event.id}`), world);
  } catch (error) {
    if (!(error instanceof GoondanError && error.code === 'E_STORE_ORDER')) throw error;
  }
}

async function setState(agent: LivedTurns, { instance }: Input, name: string, world: World): Promise<void> {
  const { stateVersion, extensionState } = await agent.read(instance);
  world.stateTries.push(name);
  const kept = await agent.commitStates(instance, stateVersion, { ...extensionState, [BETWEEN]: name });
  if (kept !== stateVersion + 1 && extensionState[BETWEEN] !== name)
    throw new Error(`state ${kept} after ${stateVersion}`);
}

/**
 * Starts a turn whose event is in no inbox. The store rejects this turn if a turn of the inbox was interrupted, because
 * that turn must be resumed first.
 */
async function leaveStray(agent: LivedTurns, { instance, event }: Input): Promise<void> {
  try {
    const { epoch, log } = await agent.open(instance, `turn-stray-${event.id}`);
    await agent.append(instance, epoch, log.length, simpleRecords('stray').slice(0, 1));
    await agent.append(instance, epoch, log.length + 1, simpleRecords('stray').slice(1));
  } catch (error) {
    if (!(error instanceof GoondanError && error.code === 'E_STORE_ORDER')) throw error;
  }
}

/** Resets the instance before this input's turn runs, even if an earlier process has begun the turn. */
async function resetInstead(
  orchestrator: LivedInput,
  agent: LivedTurns,
  input: Input,
  seq: number,
  life: Life,
): Promise<void> {
  const { workload, world } = life;
  const name = resetBefore(`turn-${input.event.id}`);
  if (input.reset === 'none' || input.reset === 'after' || world.resets.includes(name)) return;
  if (input.reset !== 'before') await interruptTurn(agent, input, seq, input.reset.afterWrites, workload, world);
  await reset(orchestrator, agent, input, name, life);
}

/**
 * Resets as the orchestrator does: ends the agent process, even in the middle of a turn, and resets the instance.
 * Repeats the reset after a disk error.
 */
async function reset(
  orchestrator: LivedInput,
  agent: LivedTurns,
  { instance }: Input,
  name: string,
  { world, survives }: Life,
): Promise<void> {
  while (!world.resets.includes(name)) {
    try {
      await agent.close(instance);
      noteReset(world, name);
      await orchestrator.reset(instance);
      world.resets.push(name);
    } catch (error) {
      if (!survives?.(error)) throw error;
    }
  }
}

async function interruptTurn(
  agent: LivedTurns,
  input: Input,
  seq: number,
  writes: number,
  { crashesBeforeDeadLetter }: Workload,
  world: World,
): Promise<void> {
  const interruption = new Error('interrupted');
  let left = writes;
  const store: LivedTurns = {
    ...agent,
    append: (...write) => (left-- > 0 ? agent.append(...write) : Promise.reject(interruption)),
    commit: () => Promise.reject(interruption),
  };
  const meanwhile = async () => undefined;
  await runScriptedTurn({ store, world, input, seq, crashesBeforeDeadLetter, meanwhile }).catch((error: unknown) => {
    if (error !== interruption) throw error;
  });
}

async function fetchAnswers(agent: LivedTurns, instance: AgentAddress, { workload, world }: Life): Promise<void> {
  for (const { key } of await agent.outbox.pending(instance)) {
    const input = workload.inputs.find(({ event }) => `turn-${event.id}` === key);
    if (!input?.isAnswerFetched) continue;
    await agent.outbox.acknowledge(instance, key);
    world.fetched.push(key);
  }
}

function inputOf(workload: Workload, event: AgentEvent): Input {
  const input = workload.inputs.find(({ event: { id } }) => id === event.id);
  if (!input) throw new Error(`nobody sent ${event.id}`);
  return input;
}

/** Checks that a read before recovery returns the same as a read after it. */
async function checkReadWithoutLock(agent: LivedTurns, instance: AgentAddress): Promise<void> {
  const before = JSON.stringify(await agent.read(instance));
  await agent.recover(instance);
  const after = JSON.stringify(await agent.read(instance));
  if (before !== after) throw new Error(`read without the lock ${before}, recovered ${after}`);
}
