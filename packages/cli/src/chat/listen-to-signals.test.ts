import { expect, test } from 'bun:test';
import { listenToSignals } from './listen-to-signals.ts';

test('the listener changes without a gap, and a missed signal goes to the new one', async () => {
  const heard: string[] = [];
  const signals = listenToSignals();
  try {
    await send('SIGHUP');
    signals.tell((signal) => void heard.push(`one ${signal}`));
    await send('SIGTERM');
    signals.tell((signal) => void heard.push(`other ${signal}`));
    await send('SIGHUP');
  } finally {
    signals.forget();
  }
  expect(heard).toEqual(['one SIGHUP', 'one SIGTERM', 'other SIGHUP']);
});

async function send(signal: 'SIGHUP' | 'SIGTERM'): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.once(signal, () => resolve());
  process.kill(process.pid, signal);
  await promise;
}
