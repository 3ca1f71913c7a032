/**
 * The conversation as the model sees it: the result of `pairToolCalls` for all messages, built once and then extended.
 * All messages before the newest message with tool calls are settled, which means that they are not computed again. The
 * newest message with tool calls is settled too, once it has all its results. A change to an old message rebuilds the
 * view from the last checkpoint before that message. A late result, for a call that was settled without one, rebuilds
 * the view from the beginning. Secrets are masked when a message is added to the view; more secrets rebuild it, too.
 */
import type { ModelMessage } from '@goondan/types';
import type { MessageList } from '../../messages/message-list.ts';
import type { PartOrigin } from '../../trace/part-origins.ts';
import { CleanMessages } from '../secrets/clean-messages.ts';
import { MessageAuthors } from './message-authors.ts';
import { callsOf, pairToolCalls } from './pair-tool-calls.ts';

const MOST_CHECKPOINTS = 256;

export class LlmView {
  /** Messages for the model. Messages before the last checkpoint are settled; later messages are rebuilt each time. */
  private shown: ModelMessage[] = [];
  /** The array that a model call is reading now. */
  private lent: readonly ModelMessage[] | undefined;
  /**
   * The start of the conversation, and checkpoints after it. `place`: the index of the first message after the
   * checkpoint. `shown`: the number of shown messages before it.
   */
  private checkpoints: { readonly place: number; readonly shown: number }[] = [];
  /** The ids of messages, and of the parts of a tool message that may be split. */
  private readonly ids = new WeakMap<object, string>();
  private readonly origins = new WeakMap<ModelMessage, PartOrigin>();
  /** The version of `clean` with which the shown messages were masked. */
  private version: unknown;

  constructor(
    readonly list: MessageList,
    private systemPrompt: string | undefined,
    readonly clean = new CleanMessages(),
    readonly authors = new MessageAuthors(),
  ) {
    this.startAnew();
  }

  /** Changes the system prompt. The next reader gets a view that is built anew. */
  changeSystemPrompt(systemPrompt: string | undefined): void {
    this.systemPrompt = systemPrompt;
    this.startAnew();
  }

  /** Returns the id of a shown message, or `undefined` for a message that the view created. */
  idOf(shown: ModelMessage): string | undefined {
    return this.ids.get(shown);
  }

  /** Returns the origin of a message that the view created; `undefined` for every other message. */
  originOf(shown: ModelMessage): PartOrigin | undefined {
    return this.origins.get(shown);
  }

  /** Returns a copy for the caller to keep. */
  messages(): ModelMessage[] {
    return this.show().slice();
  }

  /**
   * Passes the messages to `use` without copying them, because with a long history a copy would slow down every step.
   * The array stays unchanged until `use` has settled, whatever happens to the conversation meanwhile.
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

  private startAnew(): void {
    this.version = this.clean.version();
    this.shown = startOf(this.systemPrompt).map((message) => this.clean.one(message));
    for (const message of this.shown) this.origins.set(message, { from: 'prompt' });
    this.checkpoints = [{ place: 0, shown: this.shown.length }];
  }

  /** Rebuilds `shown` from the last checkpoint on. */
  private show(): ModelMessage[] {
    if (this.version !== this.clean.version()) this.startAnew();
    let from = this.goBackTo(this.list.takeLowestRewrite());
    if (this.hasStrangers(from)) from = this.goBackTo(0);
    const to = this.firstUnsettled(from);
    const settles = to !== from && !this.hasStrangers(to);
    if (settles) {
      this.add(from, to);
      this.checkpoints.push({ place: to, shown: this.shown.length });
      if (this.checkpoints.length > MOST_CHECKPOINTS) this.checkpoints.splice(1, 1);
    }
    this.add(settles ? to : from, this.list.end);
    this.clean.announce(this.shown);
    return this.shown;
  }

  /**
   * Goes back to the last checkpoint at or before this index, and drops everything shown after it. Returns the index of
   * the checkpoint.
   */
  private goBackTo(index: number): number {
    while ((this.checkpoints.at(-1)?.place ?? 0) > index) this.checkpoints.pop();
    const { place, shown } = this.checkpoints.at(-1) ?? { place: 0, shown: 0 };
    if (this.lent === this.shown) this.shown = this.shown.slice(0, shown);
    this.shown.length = shown;
    return place;
  }

  /** Returns true if a tool result after this index answers a call before this index, or no call at all. */
  private hasStrangers(from: number): boolean {
    if (from === this.list.end) return false;
    let asked: Set<string> | undefined;
    for (let place = from; place < this.list.end; place++) {
      const data = this.list.at(place)?.data;
      if (data === undefined) continue;
      if (data.role === 'tool' && data.content.some((part) => asked?.has(part.toolCallId) !== true)) return true;
      for (const toolCallId of callsOf(data).keys()) (asked ??= new Set()).add(toolCallId);
    }
    return false;
  }

  /** Returns the index of the newest message with tool calls if one of its results is missing; otherwise the end. */
  private firstUnsettled(from: number): number {
    let answered: Set<string> | undefined;
    for (let place = this.list.end - 1; place >= from; place--) {
      const data = this.list.at(place)?.data;
      if (data === undefined) continue;
      if (data.role === 'tool') for (const part of data.content) (answered ??= new Set()).add(part.toolCallId);
      const calls = callsOf(data);
      if (calls.size === 0) continue;
      return calls.keys().every((toolCallId) => answered?.has(toolCallId) === true) ? this.list.end : place;
    }
    return this.list.end;
  }

  private add(from: number, to: number): void {
    if (from === to) return;
    const messages = this.list.between(from, to).map(({ id, data }) => {
      this.ids.set(data, id);
      if (data.role === 'tool' && data.content.length > 1) for (const part of data.content) this.ids.set(part, id);
      return data;
    });
    for (const message of pairToolCalls(messages)) this.shown.push(this.noteOrigin(message, this.clean.one(message)));
  }

  /** Notes the origin of a message that differs from the one in the conversation: it is masked, or was split. */
  private noteOrigin(message: ModelMessage, shown: ModelMessage): ModelMessage {
    if (this.ids.has(shown)) return shown;
    const [part] = message.role === 'tool' ? message.content : [];
    const id = this.ids.get(message) ?? (part && this.ids.get(part));
    this.origins.set(shown, id === undefined ? { from: 'runtime' } : { from: 'message', id });
    return shown;
  }
}

function startOf(systemPrompt: string | undefined): ModelMessage[] {
  // Frozen like every message, because each call receives this same object.
  return systemPrompt === undefined ? [] : [Object.freeze({ role: 'system', content: systemPrompt })];
}
