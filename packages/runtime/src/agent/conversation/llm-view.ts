/**
 * What the model is shown of a conversation, built once and then only added to. Everything before the newest message
 * that asked for tools is settled: only that message's results can still come. A change to the past goes back to the
 * last checkpoint before it, not to the beginning.
 */
import type { ModelMessage } from '@goondan/types';
import type { MessageList } from './message-list.ts';
import { callsOf, pairToolCalls } from './pair-tool-calls.ts';

interface Checkpoint {
  /** Messages before this place … */
  readonly place: number;
  /** … are shown as this many. */
  readonly shown: number;
}

const MOST_CHECKPOINTS = 256;

export class LlmView {
  private readonly settled: ModelMessage[];
  private readonly start: Checkpoint;
  private checkpoints: Checkpoint[] = [];

  constructor(
    private readonly list: MessageList,
    systemPrompt: string | undefined,
  ) {
    this.settled = systemPrompt === undefined ? [] : [{ role: 'system', content: systemPrompt }];
    this.start = { place: 0, shown: this.settled.length };
  }

  messages(): ModelMessage[] {
    const from = this.goBackTo(this.list.takeLowestRewrite());
    const asking = this.newestAsking(from.place);
    if (asking > from.place) {
      for (const message of pairToolCalls(this.dataBetween(from.place, asking))) this.settled.push(message);
      this.checkpoints.push({ place: asking, shown: this.settled.length });
      if (this.checkpoints.length > MOST_CHECKPOINTS) this.checkpoints.shift();
    }
    return this.settled.concat(pairToolCalls(this.dataBetween(asking, this.list.end)));
  }

  private goBackTo(place: number): Checkpoint {
    while ((this.checkpoints.at(-1)?.place ?? 0) > place) this.checkpoints.pop();
    const checkpoint = this.checkpoints.at(-1) ?? this.start;
    this.settled.length = checkpoint.shown;
    return checkpoint;
  }

  /** The place of the newest message that asked for tools; the end when there is none. */
  private newestAsking(from: number): number {
    for (let place = this.list.end - 1; place >= from; place--) {
      const message = this.list.at(place);
      if (message !== undefined && callsOf(message.data).size > 0) return place;
    }
    return this.list.end;
  }

  private dataBetween(from: number, to: number): ModelMessage[] {
    return this.list.between(from, to).map((message) => message.data);
  }
}
