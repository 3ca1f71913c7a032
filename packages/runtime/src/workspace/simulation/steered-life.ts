/**
 * One life of a conversation whose turns take inputs while they run: the client, the orchestrator's part, and the turns.
 * It uses only the seams of a store, so that files and PostgreSQL live the same life. The check reads what is kept.
 */
import { createAssistantMessage, createUserMessage } from '@goondan/types';
import type { AgentAddress, AgentEvent, Message, MessageEvent } from '@goondan/types';
import type {
  ConversationStore,
  OpenTurn,
  TurnInput,
  TurnRecord,
} from '../../agent/conversation/conversation-store.ts';
import type { ArchivedTurn } from '../archive/read-archive.ts';
import type { InboxEntry } from '../inbox/inbox-line.ts';
import type { Journal } from '../journal/journal.ts';
import { eventsThatCount } from './fold-events.ts';
import { seededRandom } from './seeded-random.ts';
import { simpleEvent } from './simulated-turn.ts';
import { tookRecord } from './steered-turn.ts';

export const steered: AgentAddress = { agentName: 'coder', instanceKey: 'default' };

export interface SteeredInput {
  readonly event: AgentEvent;
  /** The number of steps of its own turn, if it has one. */
  readonly steps: number;
  /** True if the client sends it while a turn runs, if one does. */
  readonly isDuringTurn: boolean;
  /** True if the client cancels it as soon as it is acknowledged. */
  readonly isCancelled: boolean;
}

/** The inputs of a seed, in the order in which the client sends them. */
export function makeSteeredInputs(seed: number): readonly SteeredInput[] {
  const random = seededRandom(seed, 8);
  return Array.from({ length: 5 + random.below(4) }, (_, index) => {
    const isNow = random.chance(0.6);
    return {
      event: simpleEvent(`e${index}`, isNow ? { delivery: 'now' } : {}),
      steps: 1 + random.below(3),
      isDuringTurn: random.chance(0.75),
      isCancelled: random.chance(0.15),
    };
  });
}

export interface SteeredLife {
  readonly inputs: readonly SteeredInput[];
  /** The ids of acknowledged inputs, in order. The list outlives a crash. */
  readonly acknowledged: string[];
  readonly orchestrator: Pick<Journal, 'accept' | 'pendingEntries' | 'handled'> & Partial<Pick<Journal, 'cancel'>>;
  readonly agent: ConversationStore;
}

/** Lives until all inputs are sent and handled. */
export async function liveSteered(life: SteeredLife): Promise<void> {
  for (let rounds = 0; ; rounds += 1) {
    if (rounds > 100) throw new Error('the same events are pending again and again');
    const [first] = await life.orchestrator.pendingEntries(steered);
    if (first) await runTurn(life, first);
    else if (!(await sendNext(life))) return;
  }
}

/** Sends the next input. Returns false if all are acknowledged. */
async function sendNext({ inputs, acknowledged, orchestrator }: SteeredLife): Promise<boolean> {
  const next = nextInput({ inputs, acknowledged });
  if (next === undefined) return false;
  await orchestrator.accept(steered, next.event);
  // A node that was late may have sent the same input.
  if (!acknowledged.includes(next.event.id)) acknowledged.push(next.event.id);
  if (next.isCancelled) await orchestrator.cancel?.(steered, next.event.id, 'enough');
  return true;
}

function nextInput({ inputs, acknowledged }: Pick<SteeredLife, 'inputs' | 'acknowledged'>): SteeredInput | undefined {
  return inputs.find(({ event }) => !acknowledged.includes(event.id));
}

async function runTurn(life: SteeredLife, { seq, event }: InboxEntry): Promise<void> {
  const { agent, orchestrator } = life;
  const turnId = `turn-${event.id}`;
  const opened = await agent.open(steered, turnId, { seq, event });
  if (opened.finished) return orchestrator.handled(steered, event.id);
  const turn = new SteeredTurn(life, { seq, event }, opened);
  await turn.run();
  const { taken } = turn;
  const left = await orchestrator.pendingEntries(steered);
  const isTaken = (id: string) => taken.some((each) => each.event.id === id);
  const still = left.find((entry) => isTaken(entry.event.id));
  if (still) throw new Error(`${still.event.id} was taken by ${turnId}, and is still pending`);
  // As after `turn.done`. Sometimes the orchestrator ends before it notes it.
  if (seq % 3 !== 0) orchestrator.handled(steered, event.id);
  for (const each of taken) {
    if (each.seq % 3 !== 0) orchestrator.handled(steered, each.event.id, true);
    // An orchestrator that does not know of the end sends the event as a turn of its own.
    const again = each.seq % 2 === 0 ? await agent.open(steered, `turn-${each.event.id}`, each) : undefined;
    if (again && again.finished?.turnId !== turnId)
      throw new Error(`${each.event.id} was taken by ${turnId}, and ${again.finished?.turnId ?? 'no turn'} answers it`);
  }
}

class SteeredTurn {
  readonly taken: TurnInput[] = [];
  readonly #records: TurnRecord[];
  #written: number;

  constructor(
    private readonly life: SteeredLife,
    private readonly own: TurnInput,
    private readonly opened: OpenTurn,
  ) {
    this.#records = [...opened.log];
    this.#written = opened.log.length;
    for (const record of opened.log) if (record.type === 'message' && record.took) this.taken.push(record.took);
  }

  async run(): Promise<void> {
    const { inputs, agent } = this.life;
    const { event, seq } = this.own;
    if (this.opened.log.length > 0) this.#write({ type: 'resumed' });
    if (!this.#records.some((record) => record.type === 'message')) this.#write(inputRecord(event));
    await this.#flush();
    const wanted = inputs.find((input) => input.event.id === event.id)?.steps ?? 1;
    let step = this.#records.filter((record) => record.type === 'step').length;
    for (;;) {
      const isNeeded = step < wanted || this.#records.some((record) => isTakenBefore(record, step));
      const took = await this.#takeInputs(step);
      if (!isNeeded && took === 0) break;
      this.#write(...stepRecords(event.id, step));
      // The records of a step go to the disk with it, with the next one, or with the commit.
      if ((seq + step) % 3 !== 0) await this.#flush();
      step += 1;
    }
    const messages = eventsThatCount(this.#records).flatMap(messageOf);
    const turnId = `turn-${event.id}`;
    const result = { turnId, finishReason: 'text_response' } as const;
    const rest = { at: this.#written, records: this.#records.slice(this.#written) };
    const { epoch, extensionState } = this.opened;
    await agent.commit(steered, epoch, turnId, { type: 'append', messages }, extensionState, result, rest);
  }

  /** Lets the client send an input, and takes all that wait. Returns their number. */
  async #takeInputs(beforeStep: number): Promise<number> {
    const { orchestrator } = this.life;
    if (nextInput(this.life)?.isDuringTurn) await sendNext(this.life);
    const entries = await orchestrator.pendingEntries(steered);
    const waiting = entries.filter((entry) => this.#mayTake(entry));
    for (const { seq, event } of waiting) {
      this.taken.push({ seq, event });
      this.#write(tookRecord({ seq, event }, beforeStep));
    }
    // The record of a taken input may be on the disk before anything of the step that follows.
    if (waiting.length > 0 && (this.own.seq + beforeStep) % 2 === 0) await this.#flush();
    return waiting.length;
  }

  #mayTake({ seq, event, cancelled }: InboxEntry): boolean {
    if (event.delivery !== 'now' || cancelled !== undefined || event.id === this.own.event.id) return false;
    return !this.taken.some((each) => each.event.id === event.id) && !this.opened.isHandled({ seq, event });
  }

  #write(...records: readonly TurnRecord[]): void {
    this.#records.push(...records);
  }

  async #flush(): Promise<void> {
    const at = this.#written;
    const records = this.#records.slice(at);
    this.#written = this.#records.length;
    if (records.length > 0) await this.life.agent.append(steered, this.opened.epoch, at, records);
  }
}

function isTakenBefore(record: TurnRecord, step: number): boolean {
  return record.type === 'message' && record.took !== undefined && record.took.beforeStep >= step;
}

function inputRecord({ id, input = '', createdAt }: AgentEvent): TurnRecord {
  const message = createUserMessage(input, {}, { id: `input-${id}`, createdAt });
  return { type: 'message', event: { type: 'append', message }, author: { kind: 'input' } };
}

/** A step with a tool call and its result. */
function stepRecords(eventId: string, stepIndex: number): readonly TurnRecord[] {
  const stepId = `turn-${eventId}.step-${stepIndex}`;
  const toolCallId = `call-${eventId}-${stepIndex}`;
  const call = { type: 'tool-call' as const, toolCallId, toolName: 'look', input: {} };
  const source = { type: 'assistant', stepId } as const;
  const said = createAssistantMessage([call], {}, { id: toolCallId, source });
  const output = { type: 'text' as const, value: 'seen' };
  const seen: Message = {
    ...said,
    id: `result-${eventId}-${stepIndex}`,
    data: { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName: 'look', output }] },
    source: { type: 'tool', toolCallId, toolName: 'look' },
  };
  const append = (message: Message, author: 'model' | 'tool'): TurnRecord => ({
    type: 'message',
    event: { type: 'append', message },
    author: author === 'tool' ? { kind: 'tool', name: 'look' } : { kind: 'model' },
    stepId,
  });
  return [
    append(said, 'model'),
    append(seen, 'tool'),
    { type: 'step', stepId, stepIndex, outcome: 'completed', toolResults: [], metadata: {}, extensionState: {} },
  ];
}

function messageOf(event: MessageEvent): Message[] {
  return 'message' in event ? [event.message] : [];
}

export interface KeptSteered {
  readonly messages: readonly Message[];
  readonly pending: readonly AgentEvent[];
  readonly turns: readonly ArchivedTurn[];
}

/**
 * Throws unless each acknowledged input is kept once, no pair is split, a step follows each taken input, and turns have
 * the order of their numbers.
 */
export function checkSteered({ messages, pending, turns }: KeptSteered, acknowledged: readonly string[]): void {
  const ids = messages.map(({ id }) => id);
  for (const id of acknowledged) {
    const count = ids.filter((each) => each === `input-${id}`).length;
    if (count !== 1) throw new Error(`${id} was acknowledged, and is there ${count} times`);
  }
  if (new Set(ids).size !== ids.length) throw new Error(`a message is there twice: ${ids.join(' ')}`);
  for (const [index, id] of ids.entries()) {
    const isSplit = id.startsWith('call-') && ids[index + 1] !== id.replace('call-', 'result-');
    if (isSplit) throw new Error(`${ids[index + 1]} is between a call and its result: ${ids.join(' ')}`);
  }
  for (const { turnId, events } of turns) {
    const took = events.findLast(({ counts }) => counts)?.took;
    if (took) throw new Error(`${took.event.id} was taken by ${turnId}, and no step follows it`);
  }
  if (pending.length > 0) throw new Error(`pending: ${pending.map(({ id }) => id).join(' ')}`);
  const own = turns.map(({ turnId }) => Number(turnId.slice('turn-e'.length)));
  if (own.join() !== own.toSorted((one, other) => one - other).join()) throw new Error(`turns ran as ${own.join()}`);
  const taken = turns.flatMap(({ events }) => events.flatMap(({ took }) => (took ? [took.event.id] : [])));
  const handled = [...own.map((number) => `e${number}`), ...taken].toSorted();
  if (new Set(handled).size !== handled.length) throw new Error(`handled twice: ${handled.join(' ')}`);
}
