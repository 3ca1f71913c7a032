import { describe, expect, test } from 'bun:test';
import { manualClock } from '../../../testing/manual-clock.ts';
import { watchCall } from './watch-call.ts';
import { failureOf } from './wire/ask-model.ts';

function watch(respond: () => Response = () => new Response('ok')) {
  const clock = manualClock();
  const caller = new AbortController();
  const inits: (RequestInit | undefined)[] = [];
  const fetch = async (_input: unknown, init?: RequestInit) => {
    inits.push(init);
    return respond();
  };
  const deadlines = { silenceMs: 100, totalMs: 1000 };
  const call = watchCall({ clock, fetch, label: 'some/model' }, deadlines, caller.signal);
  return { clock, caller, call, inits };
}

describe('silence', () => {
  test('ends the call at its deadline, not before', async () => {
    const { call, clock } = watch();
    await clock.advance(99);
    expect(call.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(call.signal.reason).toMatchObject({ code: 'E_MODEL_TIMEOUT', retryable: true });
  });

  test('starts again with the headers and with each byte', async () => {
    const pipe = new TransformStream<Uint8Array, Uint8Array>();
    const writer = pipe.writable.getWriter();
    const { call, clock } = watch(() => new Response(pipe.readable));
    await clock.advance(90);
    const response = await call.fetch('http://x.example');
    await clock.advance(90);
    expect(call.signal.aborted).toBe(false);
    const reader = response.body?.getReader();
    for (let count = 0; count < 5; count += 1) {
      void writer.write(new Uint8Array([count]));
      await reader?.read();
      await clock.advance(90);
      expect(call.signal.aborted).toBe(false);
    }
    await clock.advance(10);
    expect(call.signal.aborted).toBe(true);
    expect(String(call.signal.reason)).toContain('silent for 0.1 s');
  });
});

test('the total time ends a call that is never silent', async () => {
  const { call, clock } = watch();
  for (let count = 0; count < 12; count += 1) {
    await call.fetch('http://x.example');
    await clock.advance(90);
  }
  expect(String(call.signal.reason)).toContain('longer than 1 s in all');
});

test('Y-04 an answer without end is not read to its end', async () => {
  const chunk = new Uint8Array(16 * 1024 * 1024);
  let sent = 0;
  const body = new ReadableStream({ pull: (to) => (sent++ < 20 ? to.enqueue(chunk) : to.close()) });
  const { call } = watch(() => new Response(body));
  const { body: heard } = await call.fetch('http://x.example');
  const read = heard === null ? undefined : heard.pipeTo(new WritableStream());
  const error = { code: 'E_MODEL_REPLY', message: 'some/model answered with more than 134217728 bytes.' };
  expect(await failureOf(Promise.resolve(read))).toMatchObject(error);
  expect(call.signal.reason).toMatchObject(error);
  expect(sent).toBeLessThan(20);
});

describe('the end of a call', () => {
  test('the caller’s abort reason becomes the call’s', async () => {
    const { call, caller } = watch();
    const reason = new Error('stop');
    const waiting = failureOf(call.untilEnded(new Promise(() => {})));
    caller.abort(reason);
    expect(call.signal.reason).toBe(reason);
    expect(await waiting).toBe(reason);
  });

  test('work that fails after the end causes no unhandled rejection', async () => {
    const { call, caller } = watch();
    const work = Promise.withResolvers<never>();
    const waiting = failureOf(call.untilEnded(work.promise));
    caller.abort(new Error('stop'));
    work.reject(new Error('late'));
    expect(String(await waiting)).toContain('stop');
  });

  test('closing leaves no timer and no listener', () => {
    const { call, caller, clock } = watch();
    call.close();
    expect(clock.pending).toBe(0);
    const reason: unknown = call.signal.reason;
    caller.abort(new Error('later'));
    expect(call.signal.reason).toBe(reason);
  });
});

test('a request follows no redirect and has no timeout but ours', async () => {
  const { call, inits } = watch();
  await call.fetch('http://x.example', { method: 'POST' });
  expect(inits[0]).toMatchObject({ method: 'POST', redirect: 'manual', timeout: false });
});

test.each([
  [200, true],
  [429, false],
])('status %p: accepted is %p', async (status, accepted) => {
  const { call } = watch(() => new Response('', { status }));
  await call.fetch('http://x.example');
  expect(call.accepted).toBe(accepted);
});
