import { expect, test } from 'bun:test';
import { connectorLanguage } from '../../ipc/codec.ts';
import type { FromConnector } from '../../ipc/from-connector.ts';
import type { ToConnector } from '../../ipc/to-connector.ts';
import { maskSecrets } from '../../log/mask-secrets.ts';
import { fakeSpawn } from '../../testing/fake-spawn.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { awaitAnswer } from './await-answer.ts';

const start = { connection: 'mail', connector: 'web', root: '/', entry: 'web.ts', config: {}, secrets: {} };

/** Asks a fake process. `value` is its answer, from the moment the process is ready. */
function ask(value: Promise<string> = Promise.resolve('answer'), signal?: AbortSignal) {
  const fake = fakeSpawn<ToConnector, FromConnector>();
  const process = fake.spawn(connectorLanguage, { name: 'mail', runner: 'none', frameFolder: '/' });
  const [child] = fake.children;
  if (child === undefined) throw new Error('no child');
  const clock = manualClock();
  const heartbeat = { everyMs: 100, missedPings: 3 };
  const bounds = {
    name: 'mail of hunter2-hunter2',
    clock,
    heartbeat,
    timeoutMs: 900,
    signal,
    mask: maskSecrets(['hunter2-hunter2']),
  };
  const end = awaitAnswer<string, ToConnector, FromConnector>(process, start, bounds, ({ type }) =>
    type === 'ready' ? value : undefined,
  ).catch((error: unknown) => error);
  return { child, clock, end };
}

test('a process that ends before its answer is an error, with how it ended and without its secrets', async () => {
  const { child, end } = ask();
  child.exit({ code: 7 });
  const error = await end;
  expect(String(error)).toContain('The process of mail of *** ended before it was ready (7).');
  expect(error).toMatchObject({ code: 'E_PROCESS_START' });
});

test('a process that ends after it was heard does not matter, though the answer is still on its way', async () => {
  const value = Promise.withResolvers<string>();
  const { child, clock, end } = ask(value.promise);
  await child.channel.send({ type: 'ready' });
  await clock.advance(0);
  child.exit({ code: 7 });
  await clock.advance(1_000);
  value.resolve('late');
  expect(await end).toBe('late');
});

test('a signal ends the wait, also while the answer is on its way', async () => {
  const cancelling = new AbortController();
  const { child, clock, end } = ask(new Promise(() => undefined), cancelling.signal);
  await child.channel.send({ type: 'ready' });
  await clock.advance(0);
  cancelling.abort();
  expect(await end).toMatchObject({ code: 'E_CANCELLED' });
});

test('a signal that has already aborted ends the wait at once', async () => {
  expect(await ask(undefined, AbortSignal.abort()).end).toMatchObject({ code: 'E_CANCELLED' });
});
