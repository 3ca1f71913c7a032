/**
 * The frames of the running turn so far, for a watcher that connects in the middle of it: the start, the tools, and the
 * output of the current step. It is emptied at the end of the turn, because the messages of a finished turn can be read
 * from the conversation. Its size is bounded by the limits below.
 */
import type { JsonObject, TurnDelta } from '@goondan/types';
import type { FromAgent } from '../../ipc/from-agent.ts';

/** The maximum number of characters of text, and of reasoning, in one step. Above it, only the end is kept. */
const LONGEST_TEXT = 256 * 1024;
/** The maximum number of runtime events of one turn. Above it, only the newest are kept. */
const MOST_EVENTS = 200;
const KEPT_EVENTS = /^(?:turn\.started|step\.started|tool\.|approval\.|limit\.)/;

type SoFar = Pick<Extract<FromAgent, { readonly type: 'so.far' }>, 'events' | 'deltas'>;

interface WrittenStep {
  readonly eventId: string;
  readonly names: Pick<TurnDelta, 'turnId' | 'stepId' | 'stepIndex'>;
  readonly written: Record<'text' | 'reasoning', typeof nothing>;
}

const nothing = { text: '', isCut: false };

export class TurnBacklog {
  #events: { readonly name: string; readonly payload: JsonObject }[] = [];
  #step: WrittenStep | undefined;

  wrote(eventId: string, delta: TurnDelta): void {
    if (this.#step === undefined || this.#step.names.stepId !== delta.stepId || delta.type === 'discard') {
      const { turnId, stepId, stepIndex } = delta;
      this.#step = { eventId, names: { turnId, stepId, stepIndex }, written: { text: nothing, reasoning: nothing } };
    }
    if (delta.type === 'discard') return;
    const { written } = this.#step;
    const { text, isCut } = written[delta.type];
    const longer = text + delta.text;
    // The text is not cut at every delta, because cutting copies the whole remaining text.
    const isTooLong = longer.length > 2 * LONGEST_TEXT;
    written[delta.type] = { text: isTooLong ? longer.slice(-LONGEST_TEXT) : longer, isCut: isCut || isTooLong };
  }

  happened(name: string, payload: JsonObject): void {
    if (!KEPT_EVENTS.test(name)) return;
    if (name === 'turn.started') this.over();
    // The output of the previous step is stored as a message by now.
    if (name === 'step.started') this.#step = undefined;
    if (name.startsWith('limit.')) this.#forgetWaits(name);
    this.#events.push({ name, payload });
    if (this.#events.length > 2 * MOST_EVENTS) this.#events = this.#events.slice(-MOST_EVENTS);
  }

  /** Keeps only the newest wait for a limit: a new one replaces it, and its end stays with it. */
  #forgetWaits(name: string): void {
    const isOver = (kept: string) => (name === 'limit.reached' ? kept.startsWith('limit.') : kept === name);
    this.#events = this.#events.filter((event) => !isOver(event.name));
  }

  over(): void {
    this.#events = [];
    this.#step = undefined;
  }

  soFar(): SoFar {
    const step = this.#step;
    const deltas = step === undefined ? [] : (['reasoning', 'text'] as const).flatMap((type) => deltaOf(step, type));
    return { events: this.#events.slice(-MOST_EVENTS), deltas };
  }
}

function deltaOf({ eventId, names, written }: WrittenStep, type: 'text' | 'reasoning'): SoFar['deltas'] {
  const { text, isCut } = written[type];
  if (text === '') return [];
  const soFar = isCut || text.length > LONGEST_TEXT ? 'end' : 'all';
  return [{ eventId, delta: { type, text: text.slice(-LONGEST_TEXT), ...names }, soFar }];
}
