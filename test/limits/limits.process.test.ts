// Tests `Model.spec.limits` with real processes and a local server.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { renderTrace } from '../../packages/runtime/src/trace/render-trace.ts';
import { openStoreReader } from '../../packages/runtime/src/store/files/open-store-reader.ts';
import { sampleStep } from '../samples.ts';
import { openSwarm } from './open-swarm.ts';
import { mostWithin, startProvider } from './provider.ts';
import { until } from '../until.ts';

setDefaultTimeout(150_000);

/** True in the proof, which waits until the minute of the first calls is over. */
const isProof = sampleStep === 1;

test('Y-07 requests per minute and concurrent calls are limited over 8 processes, and agents take turns', async () => {
  const agents = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  await using provider = startProvider({ delayMs: 20, isOpen: false });
  const limits = { requestsPerMinute: 19, concurrent: 3 };
  await using running = await openSwarm({ url: provider.url, agents, limits, isolation: 'agent' });
  const { swarm } = running;
  const asked = agents.flatMap((agent) =>
    ['1', '2', '3'].map((instanceKey) => swarm.ask({ agent, instanceKey, input: 'Hello' }).catch(() => undefined)),
  );
  await until(
    async () => {
      const { instances } = await swarm.status();
      return instances.filter(({ limitWait }) => limitWait !== undefined).length === 21;
    },
    { about: 'all other calls wait' },
  );
  expect(new Set((await swarm.status()).instances.map(({ pid }) => pid)).size).toBe(8);
  const waits = (await swarm.status()).instances.flatMap(({ limitWait }) => limitWait?.limit ?? []);
  expect(waits).toContain('concurrent: 3 of Model/main');
  await until(() => provider.requests.length === 3, { about: 'three calls are open' });

  provider.open();
  await until(() => provider.requests.length === 19, { about: 'the minute is full' });
  await Bun.sleep(500);
  expect(provider.requests.length).toBe(19);
  expect(provider.mostOpen).toBe(3);
  expectTurns(provider.requests.slice(3).map(({ agent }) => agent));
  const late = (await swarm.status()).instances.flatMap(({ limitWait }) => limitWait?.limit ?? []);
  expect(late).toContain('requestsPerMinute: 19 of Model/main');

  if (!isProof) return;
  await Promise.all(asked);
  expect(provider.requests.length).toBe(24);
  expect(provider.mostOpen).toBe(3);
  expect(mostWithin(provider.requests, 60_000)).toBe(19);
});

test('Y-07 a wait is in the trace of the running turn, and a reload that raises the limit ends it', async () => {
  await using provider = startProvider({ delayMs: 0, isOpen: false });
  const bundle = { url: provider.url, agents: ['a'], limits: { concurrent: 1 } };
  await using running = await openSwarm(bundle);
  const { swarm, stateRoot } = running;
  const told: string[] = [];
  const ask = (instanceKey: string) =>
    swarm.ask(
      { instanceKey, input: 'Hello' },
      {
        onNotice: (notice) => {
          if (notice.type === 'runtime.event' && notice.name.startsWith('limit.')) told.push(notice.name);
        },
      },
    );
  const first = ask('1');
  await until(() => provider.requests.length === 1, { about: 'the first call is open' });
  const second = ask('2');
  const { workspaceId } = await swarm.status();
  const { traces } = openStoreReader({ stateRoot, workspaceId });
  const shown = async () => {
    const [turn] = await traces.list({ instanceKey: '2' });
    return turn === undefined ? '' : (await traces.read(turn.turnId)).turns.map((each) => renderTrace(each)).join('\n');
  };
  await until(async () => (await shown()).includes('waiting for concurrent: 1 of Model/main'), {
    about: 'the trace has the wait',
  });
  expect(told).toEqual(['limit.reached']);

  await running.reload({ ...bundle, limits: { concurrent: 2 } });
  await until(() => provider.requests.length === 2, { about: 'the second call is open' });
  expect(told).toEqual(['limit.reached', 'limit.waited']);
  provider.open();
  await Promise.all([first, second]);
  await until(async () => / waited \S+ m?s for a limit/.test(await shown()), {
    about: 'the trace has the time of the wait',
  });
});

/** Checks that no agent is served again while another one, that is served later, has had one call less. */
function expectTurns(served: readonly string[]): void {
  const counts = new Map<string, number>();
  for (const [position, agent] of served.entries()) {
    const others = new Set(served.slice(position + 1).filter((each) => each !== agent));
    for (const other of others) {
      expect(
        (counts.get(agent) ?? 0) - (counts.get(other) ?? 0),
        `${served.join('')} at ${position}`,
      ).toBeLessThanOrEqual(1);
    }
    counts.set(agent, (counts.get(agent) ?? 0) + 1);
  }
}
