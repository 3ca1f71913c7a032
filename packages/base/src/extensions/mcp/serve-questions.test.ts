import { expect, test } from 'bun:test';
import { ServedQuestions } from './serve-questions.ts';

test('N-04 a call whose server demands pages without end fails after three rounds', async () => {
  const asked: unknown[] = [];
  const demand = { elicitations: [{ mode: 'url', message: 'Open it.', url: 'https://a.example/' }] };
  const own = { ask: async (question: unknown) => (asked.push(question), { action: 'accept' as const }) };
  const sdk = { UrlElicitationRequiredError: { isInstance: (error: unknown) => error === demand } };
  const served = new ServedQuestions({ sdk, calls: { own: () => own }, onRefused: () => undefined } as never);
  let sent = 0;
  const work = () => {
    sent += 1;
    return sent < 20 ? Promise.reject(demand) : Promise.resolve('never');
  };
  expect(await served.afterPages(work).catch((error: unknown) => error)).toBe(demand);
  expect([sent, asked.length]).toEqual([4, 3]);
});
