import { describe, expect, test } from 'bun:test';
import type { JsonValue, Message } from '@goondan/types';
import fc from 'fast-check';
import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';
import { decodeFrame, encodeFrame } from './frame.ts';
import { GatheredTurn } from './gather-turns.ts';
import { encodeRecord, type LoggedRecord, numberRecords } from './logged-record.ts';
import { shortenRecords } from './short-record.ts';

const turn = 'turn-1';

/** Ids of the turn, ids that look like short forms, and ids that only look like ids of the turn. */
const id = fc.constantFrom(
  ...['.input', '.step-0', '.step-0.reply', '.step-01', '.step--0', '.step-1e3', '.step-', '', '0.input'].map(
    (end) => turn + end,
  ),
  ...['.input', '0', 'null', 'is', '1', 'answer', 'turn-', 'turn-2.step-0', 'turn-11.step-0'],
);
const json = fc.oneof(
  fc.constantFrom<JsonValue>(null, 1, '', '.input', {}, [], { a: 1, b: 2 }, { b: 2, a: 1 }),
  fc.jsonValue().map((value) => value as JsonValue),
);
const object = fc.oneof(fc.constant({}), fc.dictionary(fc.string(), json, { maxKeys: 2 }));
const text = fc.constantFrom('Sunny.', 'Rainy.');
const content = fc.oneof(
  text.map((each) => [{ type: 'text' as const, text: each }]),
  text.map((each) => [{ type: 'tool-call' as const, toolCallId: 'a', toolName: each, input: {} }]),
);
const resultFields = {
  toolCallId: fc.constantFrom('a', 'b'),
  toolName: text,
  status: fc.constant('ok' as const),
  output: json,
};
const result = fc.record(resultFields);
const data = fc.oneof<fc.Arbitrary<Message['data']>[]>(
  text.map((each) => ({ role: 'user' as const, content: each })),
  content.map((each) => ({ role: 'assistant' as const, content: each })),
  text.map((each) => ({ role: 'system' as const, content: each })),
  fc.array(fc.record({ toolCallId: fc.constantFrom('a', 'b'), toolName: text }), { maxLength: 2 }).map((parts) => ({
    role: 'tool' as const,
    content: parts.map((part) => ({
      type: 'tool-result' as const,
      ...part,
      output: { type: 'json', value: 1 } as const,
    })),
  })),
);
const source = fc.oneof<fc.Arbitrary<Message['source']>[]>(
  fc.constantFrom<Message['source']>({ type: 'user' }, { type: 'system' }),
  id.map((stepId) => ({ type: 'assistant' as const, stepId })),
  fc.record({ type: fc.constant('tool' as const), toolCallId: fc.constantFrom('a', 'b'), toolName: text }),
);
const message: fc.Arbitrary<Message> = fc.record(
  {
    id,
    data,
    metadata: object,
    createdAt: fc.constant(new Date(5)),
    source,
    lifetime: fc.constantFrom('step' as const, 'turn' as const),
  },
  { requiredKeys: ['id', 'data', 'metadata', 'createdAt', 'source'] },
);
const plan = fc.constantFrom('plan-1', 'plan-2', 'null');
const kind = fc.constantFrom('model' as const, 'tool' as const);
/** A result that looks like the reply of a model. */
const ambiguous = fc.record({ content, ...resultFields });
const value = fc.oneof(
  ambiguous,
  content.map((each) => ({ content: each, finishReason: 'stop' })),
  content.map((each) => ({ finishReason: 'stop', content: each })),
  result,
  json,
);
const record = fc.oneof(
  fc.record(
    {
      type: fc.constant('message' as const),
      event: fc.oneof(
        message.map((each) => ({ type: 'append' as const, message: each })),
        fc.record({ type: fc.constant('replace' as const), targetId: id, message }),
        id.map((targetId) => ({ type: 'remove' as const, targetId })),
        fc.constant({ type: 'truncate' as const }),
      ),
      author: fc.constantFrom({ kind: 'input' as const }, { kind: 'model' as const, ref: 'Model/x' }),
      stepId: id,
    },
    { requiredKeys: ['type', 'event', 'author'] },
  ),
  fc.record(
    { type: fc.constant('entered' as const), metadata: object, extensionState: object, plan },
    { requiredKeys: ['type', 'metadata', 'extensionState'] },
  ),
  fc.record({ type: fc.constant('intent' as const), key: id, kind }),
  fc.record({
    type: fc.constant('effect' as const),
    key: id,
    kind,
    outcome: fc.oneof(
      value.map((each) => ({ ok: true as const, value: each })),
      fc.constant({ ok: false as const, error: { code: 'E_X', message: 'no' } }),
    ),
  }),
  fc.record(
    {
      type: fc.constant('step' as const),
      stepId: id,
      stepIndex: fc.nat(2),
      outcome: fc.constantFrom('completed' as const, 'dropped' as const),
      responseMessageId: id,
      usage: fc.constant({ inputTokens: 1, outputTokens: 1, totalTokens: 2 }),
      toolResults: fc.array(fc.oneof(result, ambiguous), { maxLength: 2 }),
      result: fc.constant({ status: 'completed' as const, hasToolCalls: false, metadata: {} }),
      survivors: fc.constant([1]),
      metadata: object,
      extensionState: object,
      plan,
      turnPlan: plan,
    },
    { requiredKeys: ['type', 'stepId', 'stepIndex', 'outcome', 'toolResults', 'metadata', 'extensionState'] },
  ),
  fc.constantFrom({ type: 'resumed' as const }, { type: 'resumed' as const, isExcused: true as const }),
) as fc.Arbitrary<TurnRecord>;

/** Writes frames and reads them again, with short or with full records. */
function readBack(frames: readonly (readonly TurnRecord[])[], isShort: (frame: number) => boolean): LoggedRecord[] {
  const writing = new GatheredTurn();
  const reading = new GatheredTurn();
  let seq = 1;
  frames.forEach((records, index) => {
    const texts = isShort(index)
      ? shortenRecords(records, writing.contextOf(turn))
      : records.map((each) => encodeRecord(each));
    writing.addRecords(turn, 0, numberRecords(records, seq));
    const frame = decodeFrame(encodeFrame({ seq, durable: 0, turn, at: 0 }, texts).subarray(0, -1));
    if (frame) reading.add(frame);
    seq += records.length;
  });
  return reading.log;
}

/** Returns the text of the values that a short record may refer to, with their fields in order. */
function textOf(log: readonly LoggedRecord[]): string {
  return JSON.stringify(
    log.map(({ record: each }) => [
      each.type === 'effect' && each.outcome.ok && each.outcome.value,
      each.type === 'step' && each.toolResults,
    ]),
  );
}

const reply: TurnRecord = {
  type: 'message',
  stepId: 'turn-1.step-0',
  author: { kind: 'model' },
  event: {
    type: 'append',
    message: {
      id: 'turn-1.step-0.reply',
      data: { role: 'assistant', content: [{ type: 'text', text: 'Sunny.' }] },
      metadata: {},
      createdAt: new Date(0),
      source: { type: 'assistant', stepId: 'turn-1.step-0' },
    },
  },
};
const done = { toolCallId: 'a', toolName: 'b__c', status: 'ok', output: 7 } as const;

describe('short records', () => {
  test('are read as exactly the records that were written, beside full ones', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(record, { minLength: 1, maxLength: 6 }), { maxLength: 4 }),
        fc.nat(15),
        (frames, full) => {
          const expected = readBack(frames, () => false);
          const read = readBack(frames, () => true);
          expect(read).toEqual(expected);
          expect(textOf(read)).toBe(textOf(expected));
          expect(readBack(frames, (frame) => (full & (1 << frame)) === 0)).toEqual(expected);
        },
      ),
      { numRuns: 400 },
    );
  });

  test.each([
    ['refer to the result of a tool, and never to the reply of a model whose content is left out', '0/model', 'model'],
    ['keep the content of a result of a tool, although a message has the same content', '0/call/a', 'tool'],
  ] as const)('%s', (_, key, effectKind) => {
    const both = { content: [{ type: 'text' as const, text: 'Sunny.' }], ...done };
    const frame: TurnRecord[] = [
      { type: 'effect', key, kind: effectKind, outcome: { ok: true, value: both } },
      reply,
      {
        type: 'step',
        stepId: 'turn-1.step-0',
        stepIndex: 0,
        outcome: 'completed',
        toolResults: [both],
        metadata: {},
        extensionState: {},
      },
    ];
    expect(readBack([frame], () => true)).toEqual(readBack([frame], () => false));
  });

  test('keep the order of the fields of a reply', () => {
    const reversed = { finishReason: 'stop', content: [{ type: 'text', text: 'Sunny.' }] };
    const frame: TurnRecord[] = [
      { type: 'effect', key: '0/model', kind: 'model', outcome: { ok: true, value: reversed } },
      reply,
    ];
    expect(textOf(readBack([frame], () => true))).toBe(textOf(readBack([frame], () => false)));
  });

  test('leave out what the turn, an earlier record or another record of the frame has', () => {
    const effect = (key: string, each: unknown): TurnRecord => ({
      type: 'effect',
      key,
      kind: key.endsWith('model') ? 'model' : 'tool',
      outcome: { ok: true, value: each as JsonValue },
    });
    const sealed = { metadata: {}, extensionState: {}, plan: 'digest' };
    const texts = shortenRecords(
      [
        { type: 'entered', ...sealed },
        effect('0/model', { content: [{ type: 'text', text: 'Sunny.' }], finishReason: 'stop' }),
        reply,
        effect('0/call/a', done),
        {
          type: 'step',
          stepId: 'turn-1.step-0',
          stepIndex: 0,
          outcome: 'completed',
          toolResults: [done],
          responseMessageId: 'turn-1.step-0.reply',
          ...sealed,
        },
      ],
      { turn },
    );
    expect(texts.map((each) => JSON.parse(each))).toEqual([
      { is: 'entered', plan: 'digest' },
      { is: 'effect', key: '0/model', kind: 'model', value: { finishReason: 'stop' }, contentOf: 1 },
      {
        is: 'message',
        step: 0,
        author: { kind: 'model' },
        append: {
          ownId: '.step-0.reply',
          data: { role: 'assistant', content: [{ type: 'text', text: 'Sunny.' }] },
          createdAt: '1970-01-01T00:00:00.000Z',
        },
      },
      { is: 'effect', key: '0/call/a', kind: 'tool', value: done },
      { is: 'step', stepIndex: 0, outcome: 'completed', toolResults: [1], response: '.step-0.reply' },
    ]);
  });
});
