import { describe, expect, test } from 'bun:test';
import { callsIn, outcomesOf, piecesOf, type ShownMessage } from './message-parts.ts';

const call = shown({
  role: 'assistant',
  content: [
    { type: 'reasoning', text: '' },
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'I look.' },
    { type: 'tool-call', toolCallId: 'c1', toolName: 'weather__forecast', input: { city: 'Seoul' } },
  ],
});
const result = shown({
  role: 'tool',
  content: [
    { type: 'tool-result', toolCallId: 'c1', toolName: 'weather__forecast', output: { type: 'json', value: [12] } },
  ],
});

test('the name of a person who changed arguments has no character that cannot be seen', () => {
  const edited = { by: '\u202eeve', via: 'cli\u200b', args: { city: 'Busan' } };
  const changed = { ...result, message: { ...result.message, metadata: { 'goondan.edited': edited } } };
  expect(outcomesOf([changed]).get('c1')?.edited?.by).toBe('\\u202eeve via cli\\u200b');
});

describe('the pieces of a message', () => {
  test('a call is shown with its result, once', () => {
    const both = [call, result];
    const [outcomes, calls] = [outcomesOf(both), callsIn(both)];
    expect(piecesOf(call.message.data, outcomes, calls)).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'I look.' },
      {
        type: 'tool',
        id: 'c1',
        name: 'weather__forecast',
        args: '{\n  "city": "Seoul"\n}',
        outcome: { isError: false, text: '[\n  12\n]' },
      },
    ]);
    expect(piecesOf(result.message.data, outcomes, calls)).toEqual([]);
  });

  test('Y-01 an answer that is a JSON object is shown as JSON', () => {
    const answer = shown({ role: 'assistant', content: ' {"city":"Seoul"}' });
    const json = [{ type: 'json', text: '{\n  "city": "Seoul"\n}' }];
    expect(piecesOf(answer.message.data, new Map(), new Set())).toEqual(json as never);
    const broken = shown({ role: 'assistant', content: [{ type: 'text', text: '{"city":' }] });
    expect(piecesOf(broken.message.data, new Map(), new Set())).toEqual([{ type: 'text', text: '{"city":' }]);
    const typed = shown({ role: 'user', content: '{"city":"Seoul"}' });
    expect(piecesOf(typed.message.data, new Map(), new Set())).toMatchObject([{ type: 'text' }]);
  });

  test('a result without its call is shown by itself, and so is a call without a result', () => {
    expect(piecesOf(result.message.data, new Map(), new Set())).toMatchObject([{ type: 'tool', id: 'c1', args: '' }]);
    const [, , alone] = piecesOf(call.message.data, new Map(), new Set(['c1']));
    expect(alone).not.toHaveProperty('outcome');
  });

  test('arguments that a person changed are shown with the person and their door', () => {
    const edited = (change: ShownMessage['message']['metadata'][string]) => {
      const { message } = result;
      return outcomesOf([{ ...result, message: { ...message, metadata: { 'goondan.edited': change } } }]).get('c1')
        ?.edited;
    };
    const args = { city: 'Busan' };
    expect(edited({ by: 'ann', via: 'chat', args })).toEqual({ by: 'ann via chat', args: '{\n  "city": "Busan"\n}' });
    expect(edited({ args })?.by).toBe('a person');
  });

  test('a denial and an error are marked as such', () => {
    const refused = { type: 'execution-denied', reason: 'No.' } as const;
    const denied = shown({
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: 'c', toolName: 'x', output: refused }],
    });
    expect(outcomesOf([denied]).get('c')).toEqual({ isError: true, text: 'No.' });
  });

  test.each([
    [{ name: 'GoondanError', code: 'E_TOOL', message: 'It is broken.' }, 'E_TOOL: It is broken.'],
    [{ message: 'It is broken.' }, 'It is broken.'],
    [{ code: 'E_TOOL' }, undefined],
    [{ message: 7 }, undefined],
    [[1], undefined],
    [null, undefined],
  ])('the error %j is shortened to %p', (value, brief) => {
    const output = { type: 'error-json', value } as const;
    const failed = shown({ role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', toolName: 'x', output }] });
    expect(outcomesOf([failed]).get('c')?.brief).toBe(brief);
  });
});

function shown(data: ShownMessage['message']['data']): ShownMessage {
  const message = { id: 'm', data, metadata: {}, createdAt: '', source: { type: 'user' } } as const;
  return { seq: 1, at: '', turnId: 't', author: { kind: 'runtime' }, how: 'append', message };
}

test('Y-02 a stored image is a picture with its name and size, and any other file is its name', () => {
  const digest = 'a'.repeat(64);
  const content = [
    {
      type: 'image' as const,
      image: `blob:sha256-${digest}`,
      mediaType: 'image/png',
      filename: 'cat.png',
      size: 12_345,
    },
    { type: 'image' as const, image: `blob:sha256-${digest}`, mediaType: 'image/svg+xml', filename: 'cat.svg' },
    {
      type: 'file' as const,
      data: `blob:sha256-${digest}`,
      mediaType: 'application/pdf',
      filename: 'a.pdf',
      size: 900,
    },
    { type: 'image' as const, image: 'https://a.example/cat.png', size: 3_000_000 },
  ];
  expect(piecesOf({ role: 'user', content }, new Map(), new Set())).toEqual([
    { type: 'attachment', name: 'cat.png, 12 KB', image: { digest, mediaType: 'image/png' } },
    { type: 'attachment', name: 'cat.svg' },
    { type: 'attachment', name: 'a.pdf, 900 B' },
    { type: 'attachment', name: 'image, 3 MB' },
  ]);
});
