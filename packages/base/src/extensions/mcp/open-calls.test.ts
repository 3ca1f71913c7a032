import { expect, test } from 'bun:test';
import type { Clock } from './clock.ts';
import { OpenCalls } from './open-calls.ts';
import type { AskOptions } from './mcp-client.ts';
import type { ServerQuestion } from './server-question.ts';

/** A clock that moves when the test says so. */
function manualClock() {
  let now = 0;
  const timers = new Set<{ at: number; action: () => void }>();
  const clock: Clock = {
    elapsed: () => now,
    after(ms, action) {
      const timer = { at: now + ms, action };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  const advance = (ms: number) => {
    now += ms;
    for (const timer of [...timers].filter(({ at }) => at <= now)) {
      timers.delete(timer);
      timer.action();
    }
  };
  return { clock, advance };
}

const question: ServerQuestion = { mode: 'form', message: 'Which?', requestedSchema: {} };
const never = new AbortController().signal;

/** Opens a call that the test ends. `inside` runs code in the context of the call, as its stream does. */
function openCall(calls: OpenCalls, options: Partial<AskOptions> = {}) {
  const end = Promise.withResolvers<void>();
  const asked: ServerQuestion[] = [];
  const answer = Promise.withResolvers<void>();
  let restore: <Value>(work: () => Value) => Value = (work) => work();
  let bounded: AskOptions | undefined;
  const done = calls.run(
    {
      timeoutMs: 100,
      onQuestion: async (each) => {
        asked.push(each);
        await answer.promise;
        return { action: 'decline' };
      },
      ...options,
    },
    async (given) => {
      bounded = given;
      restore = (await import('node:async_hooks')).AsyncLocalStorage.snapshot();
      const late = Promise.withResolvers<never>();
      given.signal?.addEventListener('abort', () => late.reject(given.signal?.reason));
      return Promise.race([end.promise, late.promise]);
    },
  );
  done.catch(() => undefined);
  return {
    asked,
    done,
    answer: () => answer.resolve(),
    end: () => end.resolve(),
    inside: <Value>(work: () => Value) => restore(work),
    progress: () => bounded?.onProgress?.('more'),
  };
}

test('N-04 a question belongs to the call in whose stream it arrived, whatever else is open', async () => {
  const calls = new OpenCalls(manualClock().clock);
  const [one, two] = [openCall(calls), openCall(calls)];
  await Bun.sleep(1);
  two.answer();
  expect(await two.inside(() => calls.find()).ask(question, never)).toEqual({ action: 'decline' });
  expect([one.asked, two.asked]).toEqual([[], [question]]);
});

test('N-04 a question outside of a stream belongs to the only open call, and to none of several', async () => {
  const calls = new OpenCalls(manualClock().clock);
  expect(() => calls.find()).toThrow('outside of a call');
  const one = openCall(calls);
  await Bun.sleep(1);
  one.answer();
  await calls.find().ask(question, never);
  expect(one.asked).toEqual([question]);
  const two = openCall(calls);
  expect(() => calls.find()).toThrow('while 2 calls were open');
  two.end();
  await two.done;
  expect(() => calls.find()).not.toThrow();
  one.end();
  await one.done;
  expect(() => calls.find()).toThrow('outside of a call');
});

test('N-04 a call that is over, or that nobody can be asked for, asks nobody else', async () => {
  const calls = new OpenCalls(manualClock().clock);
  const over = openCall(calls);
  await Bun.sleep(1);
  over.end();
  await over.done;
  openCall(calls);
  expect(() => over.inside(() => calls.find())).toThrow('outside of a call');
  await calls.run({ timeoutMs: 1 }, async () => expect(() => calls.find()).toThrow('outside of a call'));
});

test('N-04 a call that the server did not answer counts as open for ten minutes', async () => {
  const { clock, advance } = manualClock();
  const calls = new OpenCalls(clock);
  const cancelling = new AbortController();
  const cancelled = openCall(calls, { signal: cancelling.signal });
  await Bun.sleep(1);
  cancelling.abort(new Error('cancelled'));
  expect(cancelled.done).rejects.toThrow('cancelled');
  await Bun.sleep(1);
  openCall(calls, { timeoutMs: 10_000_000 });
  expect(() => calls.find()).toThrow('while 2 calls were open');
  advance(600_001);
  expect(() => calls.find()).not.toThrow();
});

test('N-04 a question ends with its call, and a new connection forgets unanswered calls', async () => {
  const calls = new OpenCalls(manualClock().clock);
  const cancelling = new AbortController();
  const signals: AbortSignal[] = [];
  const onQuestion = (_: ServerQuestion, signal: AbortSignal) => (signals.push(signal), new Promise<never>(() => {}));
  const cancelled = openCall(calls, { signal: cancelling.signal, onQuestion });
  await Bun.sleep(1);
  void calls.find().ask(question, never);
  cancelling.abort(new Error('cancelled'));
  await cancelled.done.catch(() => undefined);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  openCall(calls);
  expect(() => calls.find()).toThrow('while 2 calls were open');
  calls.reset();
  expect(() => calls.find()).not.toThrow();
});

test('a call ends at its deadline, which progress begins again', async () => {
  const { clock, advance } = manualClock();
  const calls = new OpenCalls(clock);
  const call = openCall(calls, { onProgress: () => undefined });
  await Bun.sleep(1);
  advance(99);
  call.progress();
  advance(99);
  await expectLastMoment(call, advance);
});

test('N-04 the time of a person does not count for the deadline of a call', async () => {
  const { clock, advance } = manualClock();
  const calls = new OpenCalls(clock);
  const call = openCall(calls);
  await Bun.sleep(1);
  advance(60);
  const asking = calls.find().ask(question, never);
  advance(1_000_000);
  call.answer();
  await asking;
  advance(39);
  await expectLastMoment(call, advance);
});

/** Expects that a call is still open, and ends at its deadline a millisecond later. */
async function expectLastMoment({ done }: ReturnType<typeof openCall>, advance: (ms: number) => void): Promise<void> {
  let isOver = false;
  done.catch(() => (isOver = true));
  await Bun.sleep(1);
  expect(isOver).toBe(false);
  advance(1);
  expect(done).rejects.toThrow('took too long');
}
