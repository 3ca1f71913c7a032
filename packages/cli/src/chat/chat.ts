/**
 * The chat: each line that a person enters becomes a turn of one agent, one after the other, or a message in the running
 * turn; keys interrupt or end turns.
 *
 * 1. No text is lost: messages for the next turn are queued, at most `MOST_QUEUED` of them. If a turn is cancelled, or the
 *    swarm refuses a message, the queued messages return to the input line. A message for the running turn goes to the swarm
 *    at once; if the turn ends first, its own turn is shown next. Lines that may come from a file are handled in their order,
 *    also commands that leave the conversation, and the end of the file.
 * 2. A failing turn ends only that turn, not the chat.
 */
import type { QuestionSummary, InstanceAddress, LogLine, Swarm, SwarmNotice, TurnEnd } from '@goondan/runtime';
import { newTraceId } from '@goondan/runtime/control';
import { type Clock, randomIds } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import type { ChatSignal } from './listen-to-signals.ts';
import { AGAIN_MS, decideInterrupt } from './decide-interrupt.ts';
import { describeWaiting } from './describe-messages.ts';
import { Question } from './question.ts';
import { refreshEverySecond } from './refresh-every-second.ts';
import { type ChatCommand, leavesConversation, readInput } from './read-command.ts';
import type { EarlierInput } from './read-earlier.ts';
import { findMentions, readMentions } from './read-mentions.ts';
import { CHAT_LABEL, type ChatScreen, type LiveView, type ScreenHooks } from './screen/chat-screen.ts';
import { type Line, line, linesOf } from './screen/line.ts';
import { isAboutSilence, isAboutTurn } from '../print-log-line.ts';
import { describeFailure } from './turn/describe-failure.ts';
import { TurnView } from './turn/turn-view.ts';

export interface ChatDeps {
  readonly swarm: Pick<Swarm, 'ask' | 'deliver'>;
  readonly clock: Clock;
  readonly openScreen: (hooks: ScreenHooks) => ChatScreen;
  /** Runs a command other than `quit`. */
  readonly runCommand: (command: Exclude<ChatCommand, { name: 'quit' }>, chat: Chat) => Promise<void>;
  readonly complete: ScreenHooks['complete'];
  readonly costOf: (end: TurnEnd) => Promise<string | undefined>;
}

/**
 * How the chat ended. `left`: the person left, or a signal asked the process to end. `interrupted`: the person left
 * while a cancelled turn still ran. `quit`: the person left without waiting for anything. `stopped`: another process
 * stopped the swarm. `gone`: the terminal was closed.
 */
export type ChatEnd = 'left' | 'interrupted' | 'quit' | 'stopped' | 'gone';

interface RunningTurn {
  readonly abort: AbortController;
  readonly view: TurnView;
  readonly traceId: string;
  isAccepted: boolean;
}

const MOST_QUEUED = 100;
/** The number of turns whose trace ids are kept, because log lines of a past turn may still arrive. */
const MOST_ASKED = 10;
const NOT_OVER = 'The turn is not over: it continues when you run the swarm again.';

export class Chat {
  readonly screen: ChatScreen;
  readonly #question: Question;
  readonly #end = Promise.withResolvers<ChatEnd>();
  #turn: RunningTurn | undefined;
  /** The number of running commands. */
  #commands = 0;
  /** Trace ids of the newest turns. */
  #asked: readonly string[] = [];
  #queue: string[] = [];
  /** Messages for the running turn that it has not taken yet, oldest first; at most `MOST_QUEUED`. */
  #forTurn: readonly EarlierInput[] = [];
  /** Earlier inputs whose turns are shown before the queued messages are sent; at most `MOST_QUEUED`. */
  #earlier: readonly EarlierInput[] = [];
  #hasLeft = false;
  /** True if the chat ends when everything is handled. */
  #leavesAtRest = false;
  #warnedAt = -Infinity;

  constructor(
    /** The agent instance that the person talks to. */
    public at: InstanceAddress,
    private readonly deps: ChatDeps,
  ) {
    this.screen = deps.openScreen({
      sent: (text, when) => this.#sent(text, when),
      interrupt: () => this.interrupt(),
      leave: () => this.leave('left'),
      ended: () => this.#leaveAtRest(),
      complete: (before) => (this.#question.label === undefined ? deps.complete(before) : undefined),
      mayQueue: () => this.#mayType,
      quit: () => this.quit(),
      gone: () => this.leave('gone'),
      live: () => this.#live(),
    });
    this.#question = new Question(this.screen);
    // Handles the rejection here, because the promise may reject before anything awaits it.
    this.#end.promise.catch(() => undefined);
  }

  /** Resolves when the chat ends; rejects when the connection to the swarm is lost. */
  get ended(): Promise<ChatEnd> {
    return this.#end.promise;
  }

  get isTurnRunning(): boolean {
    return this.#turn !== undefined;
  }

  /** Prints a line above the prompt. */
  note(text: string): void {
    this.screen.print(linesOf(text.trimEnd(), 'dim'));
  }

  /** Shows the turns of earlier inputs, one after the other, as if they were sent here. */
  resume(inputs: readonly EarlierInput[]): void {
    this.#earlier = inputs.slice(0, MOST_QUEUED);
    this.#goOn();
  }

  /** Asks the person; see `Question.ask`. */
  async ask(lines: readonly Line[], label: string, signal?: AbortSignal, text?: string): Promise<string | undefined> {
    const answer = this.#question.ask(lines, label, signal, text);
    // Nobody can answer any more.
    if (this.#leavesAtRest) this.leave('left');
    signal?.addEventListener('abort', () => this.screen.refresh(), { once: true });
    this.screen.refresh();
    return answer;
  }

  /** Tells whether a tool call belongs to this conversation, or to a turn that a turn of this conversation caused. */
  isAbout(question: QuestionSummary): boolean {
    return question.traceId === this.#turn?.traceId || isAt(question, this.at);
  }

  /** Displays a notice from the swarm if the running turn caused it. */
  hear(notice: SwarmNotice): void {
    const turn = this.#turn;
    // Ignores notices of the turn itself, because they also arrive with its answer, in the right order.
    if (turn === undefined || notice.type !== 'runtime.event' || isAt(notice.at, this.at)) return;
    if (notice.payload['traceId'] !== turn.traceId) return;
    turn.view.hear(notice);
    this.screen.refresh();
  }

  /**
   * Tells whether the chat itself already shows the content of a log line. The chat shows how its own turns ended, and
   * the failures of turns that they caused.
   */
  reports(logged: LogLine): boolean {
    const { agent = '', instance: instanceKey = '', traceId = '', event } = logged;
    if (!isAboutTurn(logged)) return this.#turn !== undefined && isAboutSilence(logged, this.at);
    if (isAt({ agent, instanceKey }, this.at)) return this.#asked.includes(traceId);
    return event === 'turn.failed' && traceId === this.#turn?.traceId;
  }

  /** Handles Ctrl-C and SIGINT. */
  interrupt(): void {
    const now = this.deps.clock.elapsed();
    const interruption = decideInterrupt({
      isAsking: this.#question.label !== undefined,
      turn: this.#turn === undefined ? 'none' : this.#turn.abort.signal.aborted ? 'cancelling' : 'running',
      hasDraft: this.screen.draft !== '',
      isRepeated: now - this.#warnedAt < AGAIN_MS,
    });
    switch (interruption) {
      case 'withdraw':
        this.#question.answer(undefined);
        break;
      case 'cancel':
        this.#cancel();
        break;
      case 'clear':
        this.screen.clearDraft();
        break;
      case 'warn':
        this.#warnedAt = now;
        this.deps.clock.after(AGAIN_MS, () => this.screen.refresh());
        break;
      case 'quit':
        return this.leave('left');
      case 'quit-now':
        return this.leave('interrupted');
    }
    this.screen.refresh();
  }

  /** Handles Ctrl-\ and SIGQUIT: cancels the running turn and waits for nothing. */
  quit(): void {
    this.#turn?.abort.abort();
    this.leave('quit');
  }

  signalled(signal: ChatSignal): void {
    if (signal === 'SIGINT') this.interrupt();
    else if (signal === 'SIGQUIT') this.quit();
    else this.leave(signal === 'SIGHUP' ? 'gone' : 'left');
  }

  leave(how: ChatEnd): void {
    this.#hasLeft ||= how !== 'stopped';
    this.#end.resolve(how);
  }

  lost(error: unknown): void {
    this.#end.reject(error);
  }

  /** Restores the terminal. Text that was not sent stays on the screen. */
  close(): void {
    this.#question.answer(undefined);
    const unsent = [...this.#queue.splice(0), ...(this.screen.draft === '' ? [] : [this.screen.draft])];
    if (unsent.length > 0) this.screen.print([line('Not sent:', 'yellow'), ...unsent.flatMap((text) => linesOf(text))]);
    this.screen.close();
  }

  #sent(text: string, when?: 'now' | 'next'): void {
    this.#warnedAt = -Infinity;
    if (this.#question.label !== undefined) this.#question.answer(text);
    else if (text.trim() !== '') this.#take(text, when);
    this.screen.refresh();
  }

  #take(text: string, when?: 'now' | 'next'): void {
    const input = readInput(text);
    if (input.type === 'mistake') return this.#warn(input.problem);
    if (input.type === 'command') {
      const isLate = this.#commands > 0 || (this.isTurnRunning && leavesConversation(input.command));
      if (when !== undefined || !isLate) return void this.#run(input.command, text);
    }
    if (!this.#isBusy) return void this.#handle(text);
    const mayTake = this.#turn?.abort.signal.aborted === false && this.#forTurn.length < MOST_QUEUED;
    if (input.type === 'message' && when === 'now' && mayTake) return void this.#steer(input.text);
    if (this.#queue.length < MOST_QUEUED) return void this.#queue.push(text);
    this.#warn(`${MOST_QUEUED} messages are already queued. Send this one when the turn is over.`);
    this.screen.setDraft(text);
  }

  /** True while a turn or a command runs. A command may open another conversation, so the next line waits for its end. */
  get #isBusy(): boolean {
    return this.isTurnRunning || this.#commands > 0;
  }

  /** Handles a line while neither a turn nor a command runs. */
  async #handle(text: string): Promise<void> {
    const input = readInput(text);
    if (input.type === 'message') return this.#runTurn(input.text);
    if (input.type === 'command') return this.#run(input.command, text);
    this.#goOn();
  }

  /** Leaves when all lines are handled, or at once if nobody can answer a question. */
  #leaveAtRest(): void {
    const isAtRest = !this.#isBusy && this.#earlier.length + this.#queue.length === 0;
    if (isAtRest || this.#question.label !== undefined) return this.leave('left');
    this.#leavesAtRest = true;
  }

  /** Sends a message for the running turn. */
  async #steer(input: string): Promise<void> {
    const { agent, instanceKey } = this.at;
    const message = { id: randomIds.next('event'), traceId: newTraceId(), input };
    this.#forTurn = [...this.#forTurn, message];
    this.#asked = [...this.#asked, message.traceId].slice(-MOST_ASKED);
    try {
      const { input: text, paths } = findMentions(input);
      const files = paths.length === 0 ? {} : { content: await readMentions(paths, process.cwd()) };
      const said = { ...message, input: text, ...files };
      await this.deps.swarm.deliver({ agent, instanceKey, now: true, client: 'gdn', ...said });
    } catch (error) {
      this.#forTurn = this.#forTurn.filter((each) => each !== message);
      if (!GoondanError.is(error)) return this.lost(error);
      this.screen.print(describeFailure(error));
      this.#bringBack([input]);
    }
    this.screen.refresh();
  }

  /** Prints a message for the running turn when the turn takes it. */
  #hearTaken(notice: SwarmNotice): void {
    if (notice.type !== 'runtime.event' || notice.name !== 'turn.steered') return;
    const taken = this.#forTurn.find(({ id }) => id === notice.payload['eventId']);
    if (taken === undefined) return;
    this.#forTurn = this.#forTurn.filter((each) => each !== taken);
    this.#turn?.view.messageFollows();
    this.screen.printSent(taken.input);
  }

  async #run(command: ChatCommand, text: string): Promise<void> {
    if (command.name === 'quit') return this.leave('left');
    if (this.isTurnRunning && (command.name === 'agent' || command.name === 'new')) {
      this.#warn('Wait for the end of the turn, or cancel it with Ctrl-C.');
      return this.screen.setDraft(text);
    }
    this.#commands += 1;
    try {
      await this.deps.runCommand(command, this);
    } catch (error) {
      if (!GoondanError.is(error)) return this.lost(error);
      this.screen.print(describeFailure(error));
    } finally {
      this.#commands -= 1;
    }
    if (!this.#hasLeft) this.#goOn();
  }

  async #runTurn(input: string, earlier?: EarlierInput): Promise<void> {
    const { swarm, clock } = this.deps;
    const { agent, instanceKey } = this.at;
    const view = new TurnView({ agent, screen: this.screen, now: () => clock.elapsed() });
    const { traceId = newTraceId(), ...event } = earlier ?? {};
    const turn: RunningTurn = { abort: new AbortController(), view, traceId, isAccepted: earlier !== undefined };
    this.#turn = turn;
    this.#asked = [...this.#asked, turn.traceId].slice(-MOST_ASKED);
    this.screen.printSent(input);
    const stopTicking = refreshEverySecond(this.screen, clock);
    try {
      const { input: text, paths } = earlier === undefined ? findMentions(input) : { input, paths: [] };
      // A message without files is sent at once.
      const files = paths.length === 0 ? {} : { content: await readMentions(paths, process.cwd()) };
      const end = await swarm.ask(
        { agent, instanceKey, input: text, ...files, client: 'gdn', traceId, ...event },
        {
          signal: turn.abort.signal,
          onAccepted: () => void (turn.isAccepted = true),
          onNotice: (notice) => {
            this.#hearTaken(notice);
            view.hear(notice);
            this.screen.refresh();
          },
        },
      );
      view.end(end, await this.deps.costOf(end));
    } catch (error) {
      if (this.#hasLeft && GoondanError.is(error) && error.code === 'E_SWARM_STOPPED') this.note(NOT_OVER);
      else view.fail(error);
      if (!turn.isAccepted) this.#bringBack([input]);
    } finally {
      stopTicking();
      this.#turn = undefined;
    }
    // The turn has not taken these messages, so they have turns of their own.
    this.#earlier = [...this.#earlier, ...this.#forTurn];
    this.#forTurn = [];
    this.#goOn();
  }

  /** Handles what waits, unless a turn or a command still runs. */
  #goOn(): void {
    if (this.#isBusy) return this.screen.refresh();
    const [earlier, ...others] = this.#earlier;
    this.#earlier = others;
    const next = earlier === undefined ? this.#queue.shift() : undefined;
    if (earlier !== undefined) void this.#runTurn(earlier.input, earlier);
    else if (next !== undefined) void this.#handle(next);
    else if (this.#leavesAtRest) this.leave('left');
    this.screen.refresh();
  }

  #cancel(): void {
    this.#turn?.abort.abort();
    this.#turn?.view.cancelling();
    // The queued messages were meant to follow an answer, and there is no answer.
    this.#bringBack(this.#queue.splice(0));
  }

  #bringBack(messages: readonly string[]): void {
    const { draft } = this.screen;
    if (messages.length > 0) this.screen.setDraft([...messages, ...(draft === '' ? [] : [draft])].join('\n'));
  }

  #warn(text: string): void {
    this.screen.print([line(text, 'yellow')]);
  }

  /** True if a turn runs that takes messages, and asks nothing. */
  get #mayType(): boolean {
    return this.#turn?.abort.signal.aborted === false && this.#question.label === undefined;
  }

  /** Tells a person who types during a turn what the keys do. */
  #typingHint(): Pick<LiveView, 'hint'> {
    const isTyping = this.#mayType && this.screen.draft.trim() !== '';
    return isTyping ? { hint: line('Enter: for this turn · Tab: as the next turn', 'dim') } : {};
  }

  #live(): LiveView {
    const isWarned = this.deps.clock.elapsed() - this.#warnedAt < AGAIN_MS;
    return {
      lines: [
        ...(this.#turn?.view.live(this.#question.label !== undefined) ?? []),
        ...describeWaiting('now', this.#forTurn),
        ...describeWaiting('waiting', [...this.#earlier, ...this.#queue.map((input) => ({ input }))]),
      ],
      ...(isWarned ? { hint: line('Ctrl-C again to quit.', 'yellow') } : this.#typingHint()),
      label: this.#question.label ?? CHAT_LABEL,
    };
  }
}

function isAt(one: InstanceAddress, other: InstanceAddress): boolean {
  return one.agent === other.agent && one.instanceKey === other.instanceKey;
}
