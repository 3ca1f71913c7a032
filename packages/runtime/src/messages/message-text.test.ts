import { expect, test } from 'bun:test';
import { createSystemMessage } from '@goondan/types';
import { decodeBase, encodeMessage, reviveMessage, type StoredMessage } from './message-text.ts';

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
