import { expect, test } from 'bun:test';
import { systemClock } from '../../ports/clock.ts';
import { randomIds } from '../../ports/ids.ts';
import { makeEvent } from './make-event.ts';

const deps = { clock: systemClock, ids: randomIds };

test('a client names itself, and stays a source of the kind cli', () => {
  const sourceOf = (client?: string) =>
    makeEvent({ input: 'hi', ...(client !== undefined && { client }) }, 'host', deps);
  expect(sourceOf('billing').event.source).toEqual({ kind: 'cli', name: 'billing' });
  expect(sourceOf().event.source).toEqual({ kind: 'cli', name: 'control' });
});

test.each(['', 'x'.repeat(65), '\ud800', 7])('a client named %p is refused', (client) => {
  // The cast is needed because any value can arrive over the socket.
  const delivery = { client: client as string };
  expect(() => makeEvent(delivery, 'host', deps)).toThrow(expect.objectContaining({ code: 'E_EVENT_INVALID' }));
});

test.each([
  ['agent', 7],
  ['instanceKey', ['a']],
])('an event whose %s is not a text is refused', (field, value) => {
  expect(() => makeEvent({ [field]: value }, 'host', deps)).toThrow(
    expect.objectContaining({
      code: 'E_EVENT_INVALID',
      message: `This cannot be delivered: ${field} is not a text.`,
    }),
  );
});
