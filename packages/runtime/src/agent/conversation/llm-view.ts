/**
 * What the model is shown of a conversation: `pairToolCalls` over all of it, built once and then only added to.
 * What comes before the newest message that asked for tools is settled, and that message too once its results are
 * there. A change to the past goes back to the last checkpoint before it; a result that comes late, for a call settled
 * without it, goes back to the beginning.
 */
import type { ModelMessage } from '@goondan/types';
import type { MessageList } from '../../messages/message-list.ts';
import { callsOf, pairToolCalls } from './pair-tool-calls.ts';

interface Checkpoint {
  /** Messages before this place … */
  readonly place: number;
  /** … are shown as this many. */
  readonly shown: number;
}

const MOST_CHECKPOINTS = 256;

export class LlmView {
  /** What the model is shown: settled up to the last checkpoint, made anew after it each time. */
  private shown: ModelMessage[];
  /** Somebody reads this array at the moment. */
  private lent: readonly ModelMessage[] | undefined;
  private readonly start: Checkpoint;
  private checkpoints: Checkpoint[] = [];
  private readonly ids = new WeakMap<ModelMessage, string>();

  constructor(
    readonly list: MessageList,
    systemPrompt: string | undefined,
  ) {
    // Frozen like every message: each call is given this very object.
    this.shown = systemPrompt === undefined ? [] : [Object.freeze({ role: 'system', content: systemPrompt })];
    this.start = { place: 0, shown: this.shown.length };
  }

  /** The id of the message that is shown as this; undefined when the view made it. */
  idOf(shown: ModelMessage): string | undefined {
    return this.ids.get(shown);
  }

  /** A copy, to keep. */
  messages(): ModelMessage[] {
    return this.show().slice();
  }

  /**
   * Gives `use` the messages without copying them, which a long history would make felt in every step. They stay as
   * they are until `use` has settled, whatever happens to the conversation meanwhile.
   */
  async lend<Value>(use: (messages: readonly ModelMessage[]) => Promise<Value>): Promise<Value> {
    const lent = this.show();
    this.lent = lent;
    try {
      return await use(lent);
    } finally {
      if (this.lent === lent) this.lent = undefined;
    }
  }

  /** `shown` as it should be now: up to the checkpoint it is there already. */
  private show(): ModelMessage[] {
    let from = this.goBackTo(this.list.takeLowestRewrite());
    if (this.hasStrangers(from.place)) from = this.goBackTo(0);
    const to = this.firstUnsettled(from.place);
    const settles = to !== from.place && !this.hasStrangers(to);
    if (settles) {
      this.add(from.place, to);
      this.checkpoints.push({ place: to, shown: this.shown.length });
      if (this.checkpoints.length > MOST_CHECKPOINTS) this.checkpoints.shift();
    }
    this.add(settles ? to : from.place, this.list.end);
    return this.shown;
  }

  private goBackTo(place: number): Checkpoint {
    while ((this.checkpoints.at(-1)?.place ?? 0) > place) this.checkpoints.pop();
    const checkpoint = this.checkpoints.at(-1) ?? this.start;
    if (this.lent === this.shown) this.shown = this.shown.slice(0, checkpoint.shown);
    this.shown.length = checkpoint.shown;
    return checkpoint;
  }

  /** Whether a result from this place on answers a call before it, or none at all. */
  private hasStrangers(from: number): boolean {
    const asked = new Set<string>();
    for (let place = from; place < this.list.end; place++) {
      const data = this.list.at(place)?.data;
      if (data === undefined) continue;
      if (data.role === 'tool' && data.content.some((part) => !asked.has(part.toolCallId))) return true;
      for (const toolCallId of callsOf(data).keys()) asked.add(toolCallId);
    }
    return false;
  }

  /** The place of the newest message that asked for tools, when a result is still missing; else the end. */
  private firstUnsettled(from: number): number {
    const answered = new Set<string>();
    for (let place = this.list.end - 1; place >= from; place--) {
      const data = this.list.at(place)?.data;
      if (data === undefined) continue;
      if (data.role === 'tool') for (const part of data.content) answered.add(part.toolCallId);
      const calls = callsOf(data);
      if (calls.size === 0) continue;
      return calls.keys().every((toolCallId) => answered.has(toolCallId)) ? this.list.end : place;
    }
    return this.list.end;
  }

  private add(from: number, to: number): void {
    const data = this.list.between(from, to).map((message) => {
      this.ids.set(message.data, message.id);
      return message.data;
    });
    for (const message of pairToolCalls(data)) this.shown.push(message);
  }
}
