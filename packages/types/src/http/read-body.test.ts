import { expect, test } from 'bun:test';
import { readBody } from './read-body.ts';

const refuse = (status: number, message: string) => Object.assign(new Error(message), { status });

test.each<[string, string, number]>([
  ['was read', 'short', 100],
  ['was rejected', 'longer than allowed', 5],
])('a body that %s leaves no timer behind', async (_what, body, longest) => {
  let pending = 0;
  const after = () => {
    pending += 1;
    return () => void (pending -= 1);
  };
  const request = new Request('http://localhost/', { method: 'POST', body });
  const read = readBody(request, { longest, withinMs: 30_000, clock: { after } }, refuse);
  expect(pending).toBe(1);
  await read.catch(() => undefined);
  expect(pending).toBe(0);
});
