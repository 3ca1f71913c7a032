import { expect, test } from 'bun:test';
import { listen } from './listen.ts';

test('a port in use is rejected, and not shared', async () => {
  const said: string[] = [];
  const logger = { ...console, info: (text: string) => void said.push(text) };
  const answer = () => Promise.resolve(new Response(''));
  const stop = listen({ port: 0 }, logger, answer);
  const port = Number(said[0]?.match(/:(\d+)\/$/)?.[1]);
  expect(port).toBeGreaterThan(0);
  expect(() => listen({ port }, logger, answer)).toThrow();
  await stop();
});
