import { expect, test } from 'bun:test';
import { createSystemMessage } from '@goondan/types';
import fc from 'fast-check';
import { decodeBase, encodeData, encodeMessage, reviveMessage, type StoredMessage } from './message-text.ts';

const options = { id: 'm', createdAt: new Date(7) };

test('the lifetime of a message is stored, and a message without one has the bytes it always had', () => {
  const hint = createSystemMessage('it rains', { pinned: true }, { ...options, lifetime: 'turn' });
  expect(reviveMessage(JSON.parse(encodeMessage(hint)) as StoredMessage)).toEqual(hint);
  const { lifetime: _, ...kept } = hint;
  expect(encodeMessage(kept)).toBe(
    '{"id":"m","data":{"role":"system","content":"it rains"},"metadata":{"pinned":true},' +
      '"createdAt":"1970-01-01T00:00:00.007Z","source":{"type":"system"}}',
  );
  expect(decodeBase(new TextEncoder().encode(`${encodeMessage(hint)}\n${encodeMessage(kept)}\n`))).toEqual([
    hint,
    kept,
  ]);
});

test('the data of a message has the text that JSON.stringify makes', () => {
  const part = fc.oneof(
    fc.jsonValue(),
    fc.constant(undefined),
    fc.record({ type: fc.constant('text'), text: fc.string() }),
  );
  const anyData = fc.record(
    {
      role: fc.string(),
      content: fc.oneof(fc.string(), fc.array(part)),
      providerOptions: fc.jsonValue(),
      'a "b"': part,
    },
    { requiredKeys: ['role'] },
  );
  fc.assert(
    fc.property(anyData, (data) => {
      // Safe: the text does not depend on the meaning of the fields.
      expect(encodeData(data as never)).toBe(JSON.stringify(data));
    }),
  );
});
