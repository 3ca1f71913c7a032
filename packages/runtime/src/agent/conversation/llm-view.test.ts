import { describe, expect, test } from 'bun:test';
import {
  createAssistantMessage,
  createUserMessage,
  type Message,
  type MessageEvent,
  type ModelMessage,
  type ToolResultPart,
} from '@goondan/types';
import fc from 'fast-check';
import { checkMessage } from './check-message-event.ts';
import { LlmView } from './llm-view.ts';
import { MessageList } from '../../messages/message-list.ts';
import { pairToolCalls } from './pair-tool-calls.ts';

const prompt: ModelMessage = { role: 'system', content: 'Be brief.' };
const options = (id: string) => ({ id, createdAt: new Date(0) });
const says = (id: string): Message => createUserMessage(id, {}, options(id));
const asks = (id: string, ...calls: string[]): Message =>
  createAssistantMessage(
    calls.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'a__tool', input: {} })),
    {},
    options(id),
  );
const answers = (id: string, ...calls: string[]): Message => ({
  ...options(id),
  data: { role: 'tool', content: calls.map((toolCallId) => result(toolCallId, id)) },
  metadata: {},
  source: { type: 'tool', toolCallId: calls[0] ?? '', toolName: 'a__tool' },
});
const result = (toolCallId: string, value: string): ToolResultPart => ({
  type: 'tool-result',
  toolCallId,
  toolName: 'a__tool',
  output: { type: 'text', value },
});

/** Returns the expected view: the system prompt, then all messages, with all tool calls paired in one pass. */
function paired(list: MessageList): ModelMessage[] {
  return [prompt, ...pairToolCalls(list.snapshot().map(({ data }) => data))];
}

class WatchedList extends MessageList {
  visited = 0;
  override at(place: number): Message | undefined {
    this.visited++;
    return super.at(place);
  }
  override between(from: number, to: number): Message[] {
    this.visited += to - from;
    return super.between(from, to);
  }
}

function open(...messages: Message[]): { list: WatchedList; view: LlmView; add: (...more: Message[]) => void } {
  const list = new WatchedList();
  const add = (...more: Message[]) => more.forEach((message) => list.apply({ type: 'append', message }));
  add(...messages);
  return { list, view: new LlmView(list, 'Be brief.'), add };
}

describe('the system prompt', () => {
  test('M-10 comes first in any conversation; without one no system message is shown', () => {
    expect(open().view.messages()).toEqual([prompt]);
    expect(open(says('a')).view.messages()).toEqual([prompt, says('a').data]);
    expect(new LlmView(MessageList.of([says('a')]), undefined).messages()).toEqual([says('a').data]);
  });
});

describe('the view follows every change', () => {
  test('M-10 results are added one by one', () => {
    const { list, view, add } = open(says('u'), asks('q', 'c1', 'c2'));
    expect(view.messages()).toEqual(paired(list));
    add(answers('r2', 'c2'));
    expect(view.messages()).toEqual(paired(list));
    add(answers('r1', 'c1'), asks('q2', 'c3'));
    expect(view.messages()).toEqual(paired(list));
  });

  test('M-10 a result that comes after the next calls still belongs to its own call', () => {
    const { list, view, add } = open(asks('q1', 'c1'), asks('q2', 'c2'));
    expect(view.messages()).toEqual(paired(list));
    add(answers('r1', 'c1'));
    expect(view.messages()).toEqual(paired(list));
    add(answers('r2', 'c2'), asks('q3', 'c3'));
    expect(view.messages()).toEqual(paired(list));
    add(answers('r3', 'c3'), says('u'));
    expect(view.messages()).toEqual([
      prompt,
      asks('q1', 'c1').data,
      answers('r1', 'c1').data,
      asks('q2', 'c2').data,
      answers('r2', 'c2').data,
      asks('q3', 'c3').data,
      answers('r3', 'c3').data,
      says('u').data,
    ]);
  });

  test.each<[what: string, event: MessageEvent]>([
    ['its call is removed', { type: 'remove', targetId: 'q1' }],
    ['its result is removed', { type: 'remove', targetId: 'r1' }],
    ['its call is replaced by text', { type: 'replace', targetId: 'q1', message: says('x') }],
    ['a text becomes a call', { type: 'replace', targetId: 'u', message: asks('x', 'c1') }],
    ['everything is removed', { type: 'truncate' }],
  ])('M-10 when %s', (_what, event) => {
    const settled = [says('u'), asks('q1', 'c1'), answers('r1', 'c1'), asks('q2', 'c2'), answers('r2', 'c2')];
    const { list, view, add } = open(...settled, asks('q3', 'c3'));
    view.messages();
    list.apply(event);
    expect(view.messages()).toEqual(paired(list));
    add(asks('q4', 'c1'), answers('r4', 'c1'));
    expect(view.messages()).toEqual(paired(list));
  });
});

test('M-10 after any change, however rarely it is read, the view equals pairing all messages at once', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const { list, view } = open();
      for (const { wish, reads } of changes) {
        const event = possible(list, wish);
        if (event !== undefined) list.apply(event);
        if (reads) expect(view.messages()).toEqual(paired(list));
      }
      expect(view.messages()).toEqual(paired(list));
    }),
    { numRuns: 1_500 },
  );
});

describe('arrays and messages that the view returns', () => {
  test('each array belongs to the caller: changing one changes no other', () => {
    const { view } = open(says('u'), asks('q1', 'c1'), asks('q2', 'c2'));
    view.messages().splice(0, 3);
    expect(view.messages()).toHaveLength(6);
    expect(view.messages()[0]).toEqual(prompt);
  });

  test('a message made by the view is frozen, because later calls show the same object', () => {
    const stored = [asks('q1', 'c1', 'c2'), answers('r', 'c1', 'x'), asks('q2', 'c3')].map((message) =>
      checkMessage(message),
    );
    const { view } = open(...stored);
    const [system, , split, missing] = view.messages();
    expect([system, split, missing].map((message) => isFrozenDeep(message))).toEqual([true, true, true]);
    expect(() => Object.assign(system ?? {}, { content: 'Be rude.' })).toThrow(TypeError);
  });
});

describe('cost', () => {
  const rounds = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => from + index).flatMap((number) => [
      asks(`q${number}`, `c${number}`),
      answers(`r${number}`, `c${number}`),
    ]);

  test('a step reads only the new messages, not the history', () => {
    const { list, view, add } = open(...rounds(0, 1_000));
    view.messages();
    list.visited = 0;
    for (let number = 1_000; number < 1_010; number++) {
      add(...rounds(number, number + 1));
      view.messages();
    }
    expect(list.visited).toBeLessThan(100);
  });

  test('a view read while calls are open stays cheap, also when their results come', () => {
    const { list, view, add } = open(...rounds(0, 1_000));
    view.messages();
    list.visited = 0;
    for (let number = 1_000; number < 1_010; number++) {
      for (const message of rounds(number, number + 1)) {
        add(message);
        view.messages();
      }
    }
    expect(list.visited).toBeLessThan(200);
  });

  test('a change to an old message rebuilds the view from shortly before it', () => {
    const { list, view, add } = open();
    for (let number = 0; number < 200; number++) {
      add(...rounds(number, number + 1));
      view.messages();
    }
    list.visited = 0;
    list.apply({ type: 'replace', targetId: 'r190', message: answers('x', 'c190') });
    expect(view.messages()).toEqual(paired(list));
    // One read of the whole list is subtracted, because computing the expected view reads the list, too.
    expect(list.visited - list.end).toBeLessThan(60);
  });
});

interface Wish {
  readonly type: 'append' | 'replace' | 'remove' | 'truncate';
  readonly targetId: string;
  readonly id: string;
  readonly kind: 'says' | 'asks' | 'answers';
  readonly calls: readonly string[];
}

const anId = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
const change = fc.record({
  reads: fc.boolean(),
  wish: fc.record<Wish>({
    type: fc.oneof(
      { weight: 12, arbitrary: fc.constant('append' as const) },
      { weight: 3, arbitrary: fc.constantFrom('replace' as const, 'remove' as const) },
      { weight: 1, arbitrary: fc.constant('truncate' as const) },
    ),
    targetId: anId,
    id: anId,
    kind: fc.constantFrom('says', 'asks', 'asks', 'answers', 'answers'),
    calls: fc.uniqueArray(fc.constantFrom('c1', 'c2', 'c3'), { minLength: 1 }),
  }),
});

/** Converts a random wish to an event. Returns undefined if the event would use an id twice. */
function possible(list: MessageList, { type, targetId, id, kind, calls }: Wish): MessageEvent | undefined {
  if (type === 'truncate') return { type };
  if (type === 'remove') return { type, targetId };
  if (list.get(id) !== undefined && !(type === 'replace' && id === targetId)) return undefined;
  const build = { says, asks, answers }[kind];
  const message = build(id, ...calls);
  return type === 'append' ? { type, message } : { type, targetId, message };
}

function isFrozenDeep(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozenDeep);
}

describe('messages lent to a model call', () => {
  const content = (messages: readonly ModelMessage[]) => messages.map((message) => message.content);

  test('stay the same while the call runs, whatever happens to the conversation', async () => {
    const list = MessageList.of([says('a'), says('b')]);
    const view = new LlmView(list, undefined);
    await view.lend(async (lent) => {
      list.apply({ type: 'append', message: says('c') });
      expect(content(view.messages())).toEqual(['a', 'b', 'c']);
      list.apply({ type: 'remove', targetId: 'a' });
      expect(content(view.messages())).toEqual(['b', 'c']);
      expect(content(lent)).toEqual(['a', 'b']);
    });
    await view.lend(async (lent) => expect(content(lent)).toEqual(['b', 'c']));
  });

  test('are not copied: a long history adds no cost to the next call', async () => {
    const list = MessageList.of([says('a')]);
    const view = new LlmView(list, undefined);
    const first = await view.lend(async (lent) => lent);
    list.apply({ type: 'append', message: says('b') });
    expect(await view.lend(async (lent) => lent)).toBe(first);
    expect(content(first)).toEqual(['a', 'b']);
  });

  test('another system prompt counts from the next call on, and does not touch the running one', async () => {
    const list = MessageList.of([says('a'), asks('b', 'call'), answers('c', 'call')]);
    const view = new LlmView(list, undefined);
    await view.lend(async (lent) => {
      view.changeSystemPrompt('Be brief.');
      expect(view.messages()).toHaveLength(4);
      expect(lent).toHaveLength(3);
    });
    list.apply({ type: 'append', message: says('d') });
    expect(content(view.messages())[0]).toBe('Be brief.');
    view.changeSystemPrompt(undefined);
    expect(view.messages()).toEqual(new LlmView(list, undefined).messages());
  });
});
