/**
 * A minimal turn loop that follows the resume rules: it returns recorded effects without repeating them, skips recorded
 * steps, and runs interrupted parts again. It uses every part of the store that the real turn loop uses.
 */
import { type AgentAddress, createAssistantMessage, createSystemMessage, createUserMessage } from '@goondan/types';
import type { JsonValue, Message, MessageEvent, ToolResultPart, TurnResult } from '@goondan/types';
import type {
  BaseDelta,
  ConversationStore,
  EventAuthor,
  OpenTurn,
  TurnRecord,
} from '../../agent/conversation/conversation-store.ts';
import { eventsThatCount, foldEvents } from './fold-events.ts';
import { isRecordedSinceReset, sealOf, type World } from './world.ts';
import { BETWEEN, stateAfter, type Input, type StepScript } from './workload.ts';

export interface TurnRun {
  readonly store: ConversationStore;
  readonly world: World;
  readonly input: Input;
  /** The number of the event in the inbox, which the orchestrator tells. */
  readonly seq?: number | undefined;
  readonly crashesBeforeDeadLetter: number;
  /** Runs other work. It is called several times during the turn. */
  meanwhile(): Promise<void>;
}

export async function runScriptedTurn(run: TurnRun): Promise<TurnResult> {
  const { store, world, input, seq } = run;
  const turnId = `turn-${input.event.id}`;
  const told = seq === undefined ? undefined : { seq, event: input.event };
  const opened = await store.open(input.instance, turnId, told);
  if (opened.finished) return opened.finished;
  const turn = new ScriptedTurn(run, turnId, opened, await opened.loadBase());
  const result = await turn.run();
  world.committed.push(turnId);
  return result;
}

class ScriptedTurn {
  readonly #run: TurnRun;
  readonly #turnId: string;
  readonly #opened: OpenTurn;
  readonly #base: readonly Message[];
  readonly #log: TurnRecord[];
  /** The last records of the log, which are not appended: the commit stores them. */
  readonly #rest: TurnRecord[] = [];

  constructor(run: TurnRun, turnId: string, opened: OpenTurn, base: readonly Message[]) {
    this.#run = run;
    this.#turnId = turnId;
    this.#opened = opened;
    this.#base = base;
    this.#log = [...opened.log];
  }

  async run(): Promise<TurnResult> {
    const { script } = this.#run.input;
    if (this.#log.length > 0) await this.#append({ type: 'resumed' });
    const crashes = this.#log.filter(({ type }) => type === 'resumed').length;
    if (crashes >= this.#run.crashesBeforeDeadLetter) return this.#giveUp();
    if (!this.#log.some(({ type }) => type === 'entered')) await this.#enter();
    let response: Message | undefined;
    for (const [index, step] of script.steps.entries()) response = await this.#step(index, step);
    await this.#edit();
    if (script.fails) return this.#commit({ code: 'E_MODEL_FAILED', message: 'as the script says' });
    return this.#commit(undefined, response);
  }

  get #messages(): readonly Message[] {
    return foldEvents(this.#base, eventsThatCount(this.#log));
  }

  get #hasInput(): boolean {
    return this.#messages.some(({ id }) => id === this.#inputId);
  }

  get #inputId(): string {
    return `${this.#turnId}-input`;
  }

  async #enter(): Promise<void> {
    if (!this.#hasInput) await this.#appendInput();
    if (this.#run.input.script.note) {
      const note = createSystemMessage('a note', { by: 'memo' }, this.#stamp(`${this.#turnId}-note`));
      await this.#append(record({ type: 'append', message: note }, { kind: 'extension', name: 'memo' }));
    }
    await this.#append({ type: 'entered', metadata: {}, extensionState: this.#states });
  }

  async #appendInput(again: { readonly again?: true } = {}): Promise<void> {
    const { event } = this.#run.input;
    const message = createUserMessage(event.input ?? '', { eventId: event.id }, this.#stamp(this.#inputId));
    await this.#append(record({ type: 'append', message }, { kind: 'input', ...again }));
  }

  /** Runs a step. A step that does not complete runs again under another id, as in the runtime. */
  async #step(index: number, script: StepScript): Promise<Message> {
    if (script.outcome !== 'completed')
      await this.#attempt(index, script, `${this.#turnId}-step-${index}-first`, script.outcome);
    return this.#attempt(index, script, `${this.#turnId}-step-${index}`, 'completed');
  }

  async #attempt(
    stepIndex: number,
    script: StepScript,
    stepId: string,
    outcome: 'completed' | 'dropped' | 'kept',
  ): Promise<Message> {
    const source = { type: 'assistant', stepId } as const;
    const calls = script.tools.map((_, number) => `${stepId}-call-${number}`);
    const content = calls.map(
      (toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'a__b', input: {} }) as const,
    );
    const words = [{ type: 'text', text: `reply of ${stepId}` } as const, ...content];
    const reply = createAssistantMessage(words, {}, { ...this.#stamp(`${stepId}-reply`), source });
    if (this.#log.some((each) => each.type === 'step' && each.stepId === stepId)) return reply;

    await this.#effect(`${stepId}-model`, true);
    const unsent = [record({ type: 'append', message: reply }, { kind: 'model' }, stepId)];
    if (!script.isOneWrite) await this.#append(...unsent.splice(0));
    for (const [number, tool] of script.tools.entries()) {
      await this.#meanwhile();
      const id = calls[number] ?? '';
      const outcomeOfCall = await this.#effect(id, tool.isIdempotent);
      const result = this.#toolResult(id, outcomeOfCall);
      unsent.push(record({ type: 'append', message: result }, { kind: 'tool', name: 'a__b' }, stepId));
      if (!script.isOneWrite) await this.#append(...unsent.splice(0));
    }
    const end = {
      type: 'step',
      stepId,
      stepIndex,
      outcome,
      // The store does not care which event survives, so it is the last one.
      ...(outcome === 'dropped' && script.isOneWrite && { survivors: [1] }),
      toolResults: [],
      metadata: {},
      extensionState: this.#statesAfter(stepIndex, outcome),
    } as const;
    const isLast = stepIndex === this.#run.input.script.steps.length - 1 && outcome === 'completed';
    if (isLast && script.isOneWrite) this.#hold(...unsent, end);
    else {
      await this.#append(...unsent, end);
      this.#run.world.recorded.push(sealOf(stepId));
    }
    return reply;
  }

  /** Returns the states in the last record, or the committed states when the turn has no record. */
  get #states(): Record<string, JsonValue> {
    const sealed = this.#log.findLast((each) => each.type === 'entered' || each.type === 'step');
    return { ...(sealed && 'extensionState' in sealed ? sealed.extensionState : this.#opened.extensionState) };
  }

  /** Returns the states after a step. Only the last step changes them. */
  #statesAfter(stepIndex: number, outcome: StepScript['outcome']): Record<string, JsonValue> {
    const { script } = this.#run.input;
    const isLast = stepIndex === script.steps.length - 1 && outcome === 'completed';
    return isLast ? stateAfter(this.#states, script, this.#turnId) : this.#states;
  }

  #toolResult(toolCallId: string, outcome: string): Message {
    const part: ToolResultPart = {
      type: 'tool-result',
      toolCallId,
      toolName: 'a__b',
      output: { type: 'text', value: outcome },
    };
    return {
      id: `${toolCallId}-result`,
      data: { role: 'tool', content: [part] },
      metadata: {},
      createdAt: this.#run.input.event.createdAt,
      source: { type: 'tool', toolCallId, toolName: 'a__b' },
    };
  }

  /**
   * Runs an effect, unless its record exists. If a crash left its outcome unknown, the effect runs again only if
   * `mayRepeat` is true.
   */
  async #effect(key: string, mayRepeat: boolean): Promise<string> {
    const { world } = this.#run;
    const done = this.#log.find((each) => each.type === 'effect' && each.key === key);
    if (done) return 'done';
    if (this.#mustKnow(key)) throw new Error(`effect ${key} was recorded and its record is gone`);
    const kind = key.endsWith('-model') ? 'model' : 'tool';
    if (!mayRepeat && this.#log.some((each) => each.type === 'intent' && each.key === key)) return 'E_INTERRUPTED';
    if (!mayRepeat) await this.#append({ type: 'intent', key, kind });
    world.effects.push(key);
    await this.#append({ type: 'effect', key, kind, outcome: { ok: true, value: 'done' } });
    world.recorded.push(key);
    return 'done';
  }

  /**
   * Returns true if the record of this effect must exist. Only a reset may remove such a record, and it removes
   * everything else, too.
   */
  #mustKnow(key: string): boolean {
    const { world } = this.#run;
    // A state that was set outside of turns is ignored here, because it may have been set after the reset.
    const states = Object.keys(this.#opened.extensionState).filter((name) => name !== BETWEEN);
    const isReset = this.#base.length + states.length === 0;
    return isReset ? isRecordedSinceReset(world, this.#turnId, key) : world.recorded.includes(key);
  }

  async #edit(): Promise<void> {
    const { edit } = this.#run.input.script;
    const author = { kind: 'extension', name: 'editor' } as const;
    if (edit === 'truncate') {
      await this.#append(record({ type: 'truncate' }, author));
      await this.#appendInput({ again: true });
    }
    const target = this.#messages.find(({ id }) => id !== this.#inputId);
    if (!target) return;
    if (edit === 'remove') await this.#append(record({ type: 'remove', targetId: target.id }, author));
    if (edit !== 'replace') return;
    const message = createSystemMessage(`instead of ${target.id}`, {}, this.#stamp(`${this.#turnId}-instead`));
    await this.#append(record({ type: 'replace', targetId: target.id, message }, author));
  }

  async #giveUp(): Promise<TurnResult> {
    if (!this.#hasInput) await this.#appendInput();
    return this.#commit({ code: 'E_DEAD_LETTER', message: 'crashed too often' });
  }

  async #commit(error: TurnResult['error'], response?: Message): Promise<TurnResult> {
    const { store, world } = this.#run;
    const { epoch } = this.#opened;
    const result: TurnResult = {
      turnId: this.#turnId,
      finishReason: error ? 'error' : 'text_response',
      ...(error && { error }),
      ...(response && { responseMessage: response }),
    };
    const delta = deltaOf(this.#base, this.#messages);
    const before = world.recorded.length;
    const rest = { at: this.#log.length - this.#rest.length, records: this.#rest };
    const commit = store.commit(this.#instance, epoch, this.#turnId, delta, this.#states, result, rest);
    await Promise.all([commit, this.#meanwhile()]);
    world.durable.push(before);
    return result;
  }

  #hold(...records: TurnRecord[]): void {
    this.#rest.push(...records);
    this.#log.push(...records);
  }

  async #append(...records: TurnRecord[]): Promise<void> {
    const { store, world } = this.#run;
    if (this.#rest.length > 0) return this.#hold(...records);
    const before = world.recorded.length;
    await store.append(this.#instance, this.#opened.epoch, this.#log.length, records);
    this.#log.push(...records);
    // An intent survives a power loss, and so do all records before it.
    if (records.some(({ type }) => type === 'intent')) world.durable.push(before);
  }

  /** Waits a random number of ticks, so that other work runs in between. */
  async #meanwhile(): Promise<void> {
    for (let tick = 0; tick < this.#run.input.ticks; tick += 1) await Promise.resolve();
    await this.#run.meanwhile();
  }

  get #instance(): AgentAddress {
    return this.#run.input.instance;
  }

  #stamp(id: string): { id: string; createdAt: Date } {
    return { id, createdAt: this.#run.input.event.createdAt };
  }
}

function record(event: MessageEvent, author: EventAuthor, stepId?: string): TurnRecord {
  return { type: 'message', event, author, ...(stepId !== undefined && { stepId }) };
}

function deltaOf(base: readonly Message[], messages: readonly Message[]): BaseDelta {
  const isPrefix = base.every((message, index) => messages[index] === message);
  if (isPrefix) return { type: 'append', messages: messages.slice(base.length) };
  return { type: 'rewrite', messages };
}
