import { expect, test } from 'bun:test';
import { protectNewest } from './protect-newest.ts';
import { userMessages } from './testing/call-ids.ts';

test('B-03 B-04 the newest message is protected, even if it is not the input of the turn', () => {
  const nextMessages = userMessages(3);
  const isProtected = protectNewest({ baseMessages: [], events: [], nextMessages, toLlmMessages: () => [] });
  expect(nextMessages.map(isProtected)).toEqual([false, false, true]);
});
