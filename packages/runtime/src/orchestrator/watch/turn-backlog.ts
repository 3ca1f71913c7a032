/**
 * The notices of running turns so far, for a watcher that connects in the middle of a turn: the start, the tools, and
 * the output of the current step. A finished turn is removed, because its messages can be read from the conversation.
 *
 * The size is bounded: there is one turn per busy instance, and the limits below apply to each turn.
 */
import type { AgentAddress, JsonObject, TurnDelta } from '@goondan/types';
import { toInstanceAddress } from '../../control/instance-address.ts';
import type { DeltaNotice, InstanceAddress, RuntimeEventNotice, SwarmNotice } from '../../control/swarm.ts';
import { addressKey } from '../address/address-key.ts';
import type { AgentFrame, SwarmListener } from '../instances/swarm-listener.ts';

/** The maximum number of characters of text, and of reasoning, in one step. Above it, only the end is kept. */
const LONGEST_TEXT = 256 * 1024;
/** The maximum number of runtime events of one turn. Above it, only the newest are kept. */
const MOST_EVENTS = 200;
const KEPT_EVENTS = /^(?:turn\.started|step\.started|tool\.|approval\.)/;

interface RunningTurn {
  readonly at: InstanceAddress;
  events: RuntimeEventNotice[];
  step: WrittenStep | undefined;
}

interface WrittenStep {
  readonly eventId: string;
  readonly names: Pick<TurnDelta, 'turnId' | 'stepId' | 'stepIndex'>;
  readonly written: Record<'text' | 'reasoning', typeof nothing>;
}

const nothing = { text: '', isCut: false };

export class TurnBacklog implements SwarmListener {
  readonly #turns = new Map<string, RunningTurn>();

  heard(at: AgentAddress, frame: AgentFrame): void {
    if (frame.type === 'delta') this.wrote(at, frame.eventId, frame.delta);
    if (frame.type === 'runtime.event') this.happened(at, frame.name, frame.payload);
  }

  turnFinished(at: AgentAddress): void {
    this.over(at);
  }

  /** Removes the turn of an exited process, because another process starts the turn again. */
  processGone(at: AgentAddress): void {
    this.over(at);
  }

  wrote(at: AgentAddress, eventId: string, delta: TurnDelta): void {
    const turn = this.#turnOf(at);
    if (turn.step === undefined || turn.step.names.stepId !== delta.stepId || delta.type === 'discard') {
      const { turnId, stepId, stepIndex } = delta;
      turn.step = { eventId, names: { turnId, stepId, stepIndex }, written: { text: nothing, reasoning: nothing } };
    }
    if (delta.type === 'discard') return;
    const { written } = turn.step;
    const { text, isCut } = written[delta.type];
    const longer = text + delta.text;
    // The text is not cut at every delta, because cutting copies the whole remaining text.
    const isTooLong = longer.length > 2 * LONGEST_TEXT;
    written[delta.type] = { text: isTooLong ? longer.slice(-LONGEST_TEXT) : longer, isCut: isCut || isTooLong };
  }

  happened(at: AgentAddress, name: string, payload: JsonObject): void {
    if (!KEPT_EVENTS.test(name)) return;
    if (name === 'turn.started') this.over(at);
    const turn = this.#turnOf(at);
    // The output of the previous step is stored as a message by now.
    if (name === 'step.started') turn.step = undefined;
    turn.events.push({ type: 'runtime.event', at: turn.at, name, payload });
    if (turn.events.length > 2 * MOST_EVENTS) turn.events = turn.events.slice(-MOST_EVENTS);
  }

  over(at: AgentAddress): void {
    this.#turns.delete(addressKey(at));
  }

  /** Yields the notices turn by turn, each in its original order. */
  *notices(): Generator<SwarmNotice> {
    for (const { at, events, step } of this.#turns.values()) {
      yield* events.slice(-MOST_EVENTS);
      if (step === undefined) continue;
      for (const type of ['reasoning', 'text'] as const) {
        const notice = noticeOf(at, step, type);
        if (notice !== undefined) yield notice;
      }
    }
  }

  #turnOf(at: AgentAddress): RunningTurn {
    const key = addressKey(at);
    const known = this.#turns.get(key);
    if (known !== undefined) return known;
    const turn: RunningTurn = { at: toInstanceAddress(at), events: [], step: undefined };
    this.#turns.set(key, turn);
    return turn;
  }
}

function noticeOf(
  at: InstanceAddress,
  { eventId, names, written }: WrittenStep,
  type: 'text' | 'reasoning',
): DeltaNotice | undefined {
  const { text, isCut } = written[type];
  if (text === '') return undefined;
  const soFar = isCut || text.length > LONGEST_TEXT ? 'end' : 'all';
  return { type: 'delta', at, eventId, delta: { type, text: text.slice(-LONGEST_TEXT), ...names }, soFar };
}
