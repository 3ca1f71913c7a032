import { expect, spyOn, test } from 'bun:test';
import { ServerError } from './ask-server.ts';
import { type Asked, Asking } from './asking.ts';

test('requests during a read lead to one more read, however many they are', async () => {
  const { asking, told, answer, questions } = slowServer();
  asking.ask(1);
  asking.ask(2);
  asking.ask(3);
  expect(questions()).toBe(1);
  await answer('one');
  expect(told).toEqual([{ value: 'one', version: 1 }]);
  expect(questions()).toBe(2);
  await answer('three');
  expect(told.at(-1)).toEqual({ value: 'three', version: 3 });
  expect(questions()).toBe(2);
  asking.ask(4);
  expect(questions()).toBe(3);
});

test('an answer that comes too late is ignored', async () => {
  const { asking, told, answer, questions } = slowServer();
  asking.ask(1);
  asking.ask(2);
  asking.end();
  await answer('late');
  expect(told).toEqual([]);
  expect(questions()).toBe(1);
});

test('a failure is reported, and later requests are made', async () => {
  const { asking, told, answer } = slowServer();
  asking.ask(1);
  asking.ask(2);
  await answer(Promise.reject(new Error('No.')));
  expect(told).toEqual([{ error: new Error('No.'), version: 1 }]);
  await answer('yes');
  expect(told.at(-1)).toEqual({ value: 'yes', version: 2 });
});

test('a busy server is asked again later, unless a newer request follows at once', async () => {
  const timers = spyOn(globalThis, 'setTimeout');
  // Other test files of this process may set timers of their own.
  const delays = () => timers.mock.calls.flatMap(([, delay]) => (delay === 3_000 ? [delay] : []));
  const busy = () => Promise.reject(new ServerError('E_STUDIO_BUSY', 'Busy.'));
  try {
    const { asking, told, answer } = slowServer();
    asking.ask(1);
    asking.ask(2);
    await answer(busy());
    await answer('two');
    expect(told.map(({ version }) => version)).toEqual([1, 2]);
    expect(delays()).toEqual([]);
    asking.ask(3);
    await answer(busy());
    expect(delays()).toEqual([3_000]);
    asking.end();
  } finally {
    timers.mockRestore();
  }
});

function slowServer() {
  const open: ((answer: string | Promise<string>) => void)[] = [];
  let count = 0;
  const told: Asked<string>[] = [];
  const get = () => {
    count += 1;
    return new Promise<string>((resolve) => open.push(resolve));
  };
  return {
    asking: new Asking(get, (asked) => told.push(asked)),
    told,
    questions: () => count,
    answer: async (text: string | Promise<string>) => {
      open.shift()?.(text);
      await Bun.sleep(1);
    },
  };
}
