/**
 * Generates random histories, valid and invalid, with calls without results, results without calls, and pinned
 * messages.
 */
import fc from 'fast-check';
import { createAssistantMessage, createSystemMessage, createUserMessage, type Message } from '@goondan/types';

export interface HistoryOptions {
  /** If true, the history has no pinned, ephemeral or tool messages. */
  readonly plain?: boolean;
}

interface Turn {
  readonly question: string;
  readonly answer: string;
  readonly calls: readonly { readonly isAnswered: boolean; readonly output: string }[];
  readonly isStray: boolean;
  readonly marks: readonly Mark[];
}

/** Fields of a message that decide whether it is kept. */
type Mark = Partial<Pick<Message, 'metadata' | 'lifetime'>>;

const words = fc.string({ maxLength: 120 });
const none: Mark = {};
const mark = fc.oneof<fc.WeightedArbitrary<Mark>[]>(
  { weight: 8, arbitrary: fc.constant(none) },
  { weight: 1, arbitrary: fc.constant({ metadata: { pinned: true } }) },
  { weight: 1, arbitrary: fc.constant({ lifetime: 'turn' }) },
);

export function randomHistory({ plain = false }: HistoryOptions = {}): fc.Arbitrary<Message[]> {
  const turn: fc.Arbitrary<Turn> = fc.record({
    question: words,
    answer: words,
    calls: plain ? fc.constant([]) : fc.array(fc.record({ isAnswered: fc.boolean(), output: words }), { maxLength: 3 }),
    isStray: plain ? fc.constant(false) : fc.boolean(),
    marks: fc.array(plain ? fc.constant(none) : mark, { minLength: 8, maxLength: 8 }),
  });
  return fc.array(turn, { minLength: 1, maxLength: 12 }).map((turns) => turns.flatMap(messagesOf));
}

function messagesOf({ question, answer, calls, isStray, marks }: Turn, index: number): Message[] {
  const id = (what: string) => `${index}.${what}`;
  const asks = calls.map((_, call) => ({
    type: 'tool-call' as const,
    toolCallId: id(`call-${call}`),
    toolName: 'shop__look',
    input: {},
  }));
  const results = calls.flatMap(({ isAnswered, output }, call) =>
    isAnswered ? [resultOf(id(`call-${call}`), output)] : [],
  );
  const made = [
    createUserMessage(question, {}, { id: id('question') }),
    ...(asks.length === 0 ? [] : [createAssistantMessage(asks, {}, { id: id('asks') })]),
    ...results,
    ...(isStray ? [resultOf(id('stray'), 'nobody asked')] : []),
    index % 3 === 0
      ? createSystemMessage(answer, {}, { id: id('answer') })
      : createAssistantMessage(answer, {}, { id: id('answer') }),
  ];
  return made.map((message, at) => ({ ...message, ...marks[at] }));
}

function resultOf(toolCallId: string, output: string): Message {
  return {
    id: `${toolCallId}.result`,
    data: {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId, toolName: 'shop__look', output: { type: 'text', value: output } }],
    },
    metadata: {},
    createdAt: new Date(0),
    source: { type: 'tool', toolCallId, toolName: 'shop__look' },
  };
}
