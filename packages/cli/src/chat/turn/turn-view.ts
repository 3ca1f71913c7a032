/** Displays one turn: its texts and calls, first while they change and then as finished lines. */
import type { SwarmNotice, TurnEnd } from '@goondan/runtime';
import { describeTurnUsage } from '@goondan/runtime/internal';
import { endingOf, GoondanError, textOf, type TurnDelta } from '@goondan/types';
import type { ChatScreen } from '../screen/chat-screen.ts';
import { emptyLine, type Line, line, span } from '../screen/line.ts';
import { describeLimits } from '../../run/describe-limits.ts';
import { LimitWaits } from '../../run/limit-waits.ts';
import { shorten } from '../../shorten.ts';
import { describeFailure } from './describe-failure.ts';
import { formatDuration, formatElapsed } from '../../format-duration.ts';
import { RunningCalls } from './running-calls.ts';
import { StreamedMarkdown } from './streamed-markdown.ts';

export interface TurnViewDeps {
  readonly agent: string;
  readonly screen: Pick<ChatScreen, 'print' | 'columns'>;
  /** The monotonic time in milliseconds. */
  readonly now: () => number;
}

const LONGEST_THOUGHT = 200;
const KEPT = 'The model sees this message with your next one. /new begins an empty conversation.';

export class TurnView {
  readonly #startedAt: number;
  readonly #calls: RunningCalls;
  readonly #waits: LimitWaits;
  #text: StreamedMarkdown;
  #stepId: string | undefined;
  /** The last part of the model's reasoning, which is shown only while the turn runs. */
  #thought = '';
  #isCancelling = false;

  constructor(private readonly deps: TurnViewDeps) {
    this.#startedAt = deps.now();
    this.#text = this.#newText();
    this.#calls = new RunningCalls(deps.agent);
    this.#waits = new LimitWaits(deps.agent);
  }

  /** Displays a notice of this turn, or of a turn that it caused. */
  hear(notice: SwarmNotice): void {
    if (notice.type === 'delta') return this.#hearDelta(notice.delta);
    if (notice.type !== 'runtime.event') return;
    this.#waits.hear(notice);
    // A tool call is shown after the text that precedes it.
    if (notice.name === 'tool.called') this.#finishText();
    this.deps.screen.print(this.#calls.hear(notice, this.deps.now()));
  }

  /** Ends the text so far, because a message of the person follows it. */
  messageFollows(): void {
    this.#finishText();
    this.#text = this.#newText();
    this.#stepId = undefined;
  }

  cancelling(): void {
    this.#isCancelling = true;
  }

  live(isAsking = false): Line[] {
    const now = this.deps.now();
    const said = this.#text.live();
    return [
      ...(said.length === 0 ? this.#thoughtLine() : said),
      ...this.#calls.live(now),
      this.#statusLine(now, isAsking),
    ];
  }

  /** Shows the final result, and its cost if it is known. */
  end(end: TurnEnd, cost?: string): void {
    const { result, stepCount } = end;
    const { screen } = this.deps;
    const response = textOf(result.responseMessage);
    this.#finishText();
    // A layer may have changed the streamed text; then the final response is printed.
    if (response !== '' && this.#text.text !== response) {
      this.#text = this.#newText();
      screen.print(this.#text.add(response));
      this.#finishText();
    }
    screen.print(describeLimits(result, stepCount).map((limit) => line(limit, 'yellow')));
    if (result.finishReason === 'error') this.#printFailure(result.error ?? { message: 'The turn failed.' });
    if (endingOf(result) === 'failed') screen.print([line(KEPT, 'dim')]);
    screen.print(this.#summary(end, cost));
    screen.print([emptyLine]);
  }

  /** Returns nothing for a turn without a model call that took hardly any time. */
  #summary(end: TurnEnd, cost?: string): Line[] {
    const ms = this.deps.now() - this.#startedAt;
    const tokens = end.usage.totalTokens > 0 ? [describeTurnUsage(end), ...(cost === undefined ? [] : [cost])] : [];
    if (tokens.length === 0 && ms < 1_000) return [];
    return [line([formatDuration(ms), ...tokens].join(' · '), 'dim')];
  }

  /**
   * Displays a failure of a turn that has no result: the input was refused, or the connection to the swarm was lost.
   */
  fail(error: unknown): void {
    this.#finishText();
    this.#printFailure(GoondanError.is(error) ? error : { message: String(error) });
    this.deps.screen.print([emptyLine]);
  }

  #hearDelta(delta: TurnDelta): void {
    if (delta.type === 'reasoning') {
      this.#thought = (this.#thought + delta.text).slice(-LONGEST_THOUGHT);
      return;
    }
    if (delta.type === 'discard') return this.#discard();
    if (delta.stepId !== this.#stepId) this.#beginStep(delta.stepId);
    this.#thought = '';
    this.deps.screen.print(this.#text.add(delta.text));
  }

  #beginStep(stepId: string): void {
    this.#finishText();
    this.#text = this.#newText();
    this.#stepId = stepId;
  }

  /** Handles a step that failed and is retried. Lines that were already printed cannot be removed. */
  #discard(): void {
    if (this.#text.hasFinished)
      this.deps.screen.print([line('(The text above does not count: the step is tried again.)', 'dim')]);
    this.#text = this.#newText();
    this.#thought = '';
  }

  #finishText(): void {
    this.deps.screen.print(this.#text.end());
  }

  #newText(): StreamedMarkdown {
    return new StreamedMarkdown(() => this.deps.screen.columns);
  }

  #printFailure(error: Parameters<typeof describeFailure>[0]): void {
    const isCancelled = endingOf({ finishReason: 'error', error }) === 'cancelled';
    this.deps.screen.print(isCancelled ? [line('Cancelled.', 'dim')] : describeFailure(error));
  }

  #thoughtLine(): Line[] {
    const thought = shorten(this.#thought, LONGEST_THOUGHT);
    return thought === '' ? [] : [line(thought, 'dim')];
  }

  #statusLine(now: number, isAsking: boolean): Line {
    const key = isAsking ? 'Ctrl-C leaves the question open' : 'Ctrl-C cancels';
    const what = this.#isCancelling ? 'is being cancelled; Ctrl-C again leaves' : key;
    const parts = [this.deps.agent, formatElapsed(now - this.#startedAt), this.#waits.describe(), what];
    return [span(parts.filter((part) => part !== undefined).join(' · '), 'dim')];
  }
}
