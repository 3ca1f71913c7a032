import { afterEach, expect, setSystemTime, test } from 'bun:test';
import type { Swarm, SwarmStatus } from '@goondan/runtime';
import type { ConnectionStatus } from '@goondan/runtime/control';
import { awaitConnections } from './await-connections.ts';

const forEver = new AbortController().signal;
const at = (status: ConnectionStatus['status'], problem?: string): ConnectionStatus => ({
  connection: 'door',
  status,
  crashes: 0,
  ...(problem === undefined ? {} : { problem }),
});

/** Fakes a swarm that returns one status per call, in order, and then repeats the last one. */
function play(...each: readonly (readonly ConnectionStatus[])[]): Pick<Swarm, 'status'> & { asked: number } {
  const control = {
    asked: 0,
    // The cast is safe: only the connections are read.
    status: async () => ({ connections: each[Math.min(control.asked++, each.length - 1)] }) as unknown as SwarmStatus,
  };
  return control;
}

afterEach(() => void setSystemTime());

test('waits until all of them listen', async () => {
  const control = play([at('starting'), at('listening')], [at('starting'), at('listening')], [at('listening')]);
  expect(await awaitConnections(control, forEver)).toEqual([]);
  expect(control.asked).toBe(3);
});

test('does not wait for one that failed, and returns the reason', async () => {
  const failed = at('starting', 'E_CONNECTOR_CONFIG: no token');
  expect(await awaitConnections(play([at('starting')], [failed, at('listening')]), forEver)).toEqual([failed]);
});

test('does not wait when the swarm stops', async () => {
  expect(await awaitConnections(play([at('starting')]), AbortSignal.abort())).toEqual([at('starting')]);
});

test('waits up to 30 seconds for a slow machine', async () => {
  const slow = (control: ReturnType<typeof play>) => ({
    status: () => {
      setSystemTime(Date.now() + 14_000);
      return control.status();
    },
  });
  const late = play([at('starting')], [at('starting')], [at('listening')]);
  expect(await awaitConnections(slow(late), forEver)).toEqual([]);
  expect(await awaitConnections(slow(play([at('starting')])), forEver)).toEqual([at('starting')]);
});
