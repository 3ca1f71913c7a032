import { expect, test } from 'bun:test';
import { spacedStreams } from './spaced-streams.ts';

function open() {
  let now = 0;
  const sent: string[] = [];
  const timers: { readonly at: number; readonly action: () => void }[] = [];
  const clock = {
    elapsed: () => now,
    after(ms: number, action: () => void) {
      timers.push({ at: now + ms, action });
      return () => undefined;
    },
  };
  const send = spacedStreams(async (_, init) => {
    sent.push(`${init?.method} ${now}`);
    return new Response();
  }, clock);
  const advance = async (ms: number) => {
    now += ms;
    for (const { at, action } of timers) if (at === now) action();
    await Bun.sleep(0);
  };
  return { send, sent, advance };
}

test('N-01 a server that ends its stream again and again gets ten requests a second, and calls do not wait', async () => {
  const { send, sent, advance } = open();
  const opened = [1, 2, 3].map(() => send('http://a.example', { method: 'GET' }));
  await send('http://a.example', { method: 'POST' });
  for (const ms of [99, 1, 99, 1]) await advance(ms);
  await Promise.all(opened);
  expect(sent).toEqual(['GET 0', 'POST 0', 'GET 100', 'GET 200']);
});

test('a stream that waits for its turn is called off', async () => {
  const { send, sent } = open();
  await send('http://a.example', { method: 'GET' });
  const late = send('http://a.example', { method: 'GET', signal: AbortSignal.abort(new Error('over')) });
  expect(await late.catch(String)).toBe('Error: over');
  expect(sent).toEqual(['GET 0']);
});
