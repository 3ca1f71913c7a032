import { describe, expect, test } from 'bun:test';
import type { Swarm, SwarmNotice } from '@goondan/runtime';
import { GoondanError, textOf } from '@goondan/types';
import { fakeControl } from '../../../runtime/src/testing/fake-control.ts';
import { manualClock } from '../../../runtime/src/testing/manual-clock.ts';
import { roamingSwarm } from './roaming-swarm.ts';

const gone = () => new GoondanError('E_CONTROL_CLOSED', 'The node is gone.');

/** A node that can die: its watches end, its asks fail, and every later request is refused. */
function makeNode() {
  const control = fakeControl();
  const watches = new Set<PromiseWithResolvers<void>>();
  let isDead = false;
  const swarm = new Proxy(control, {
    get(target, name) {
      if (name === 'watch') {
        return async (...args: Parameters<Swarm['watch']>) => {
          if (isDead) throw gone();
          const lost = Promise.withResolvers<void>();
          watches.add(lost);
          const { end, ended } = await target.watch(...args);
          return { end, ended: Promise.race([ended, lost.promise]) };
        };
      }
      // Safe: the name is that of a member of the target.
      const member: unknown = target[name as keyof typeof target];
      return isDead && typeof member === 'function' ? () => Promise.reject(gone()) : member;
    },
  });
  return {
    swarm,
    control,
    die() {
      isDead = true;
      for (const id of control.running) control.fail(id, gone());
      for (const { reject } of watches) reject(gone());
    },
  };
}

/** A swarm at the first node, which goes on at the second one. */
function makeTwo() {
  const [one, two] = [makeNode(), makeNode()];
  return { one, two, swarm: roamingSwarm(one.swarm, { connect: async () => two.swarm }) };
}

async function settle(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await Promise.resolve();
}

describe('a swarm on many nodes', () => {
  test('S-08 answers a question at another node when the first one dies, under the same id', async () => {
    const { one, two, swarm } = makeTwo();
    const accepted: string[] = [];
    const asked = swarm.ask({ input: 'Hi' }, { onAccepted: ({ eventId }) => accepted.push(eventId) });
    await settle();
    const [id = ''] = one.control.running;
    one.die();
    await settle();
    expect(two.control.running).toEqual([id]);
    two.control.finish(id, 'Hello');
    expect(textOf((await asked).result.responseMessage)).toBe('Hello');
    expect(accepted).toEqual([id]);
  });

  test('cancels a turn at the other node', async () => {
    const { one, two, swarm } = makeTwo();
    const abort = new AbortController();
    let isCancelled = false;
    const asked = swarm.ask({ input: 'Hi' }, { signal: abort.signal, onCancelled: () => (isCancelled = true) });
    await settle();
    one.die();
    await settle();
    const [id = ''] = two.control.running;
    abort.abort();
    expect((await asked).result.finishReason).not.toBe('text_response');
    await settle();
    expect(isCancelled).toBe(true);
    expect(two.control.calls.at(-1)).toEqual(['cancel', { agent: 'entry', instanceKey: 'default', eventId: id }]);
  });

  test('S-08 goes on with a watch, and says that notices may be missing', async () => {
    const { one, two, swarm } = makeTwo();
    const seen: SwarmNotice[] = [];
    const watch = await swarm.watch({}, (notice) => seen.push(notice));
    one.die();
    await settle();
    const line = { time: '', level: 'info', message: 'hello' } as const;
    two.control.tell({ type: 'log', line });
    expect(seen).toEqual([
      { type: 'dropped', count: 0 },
      { type: 'log', line },
    ]);
    watch.end();
    await watch.ended;
    expect(two.control.watching).toBe(0);
  });

  test('waits for another node, and ends a watch when none comes', async () => {
    const clock = manualClock();
    const [one, two] = [makeNode(), makeNode()];
    let next: Swarm | undefined;
    const swarm = roamingSwarm(one.swarm, { connect: async () => next, clock });
    const watch = await swarm.watch({ types: [] }, () => undefined);
    one.die();
    await settle();
    const delivered = swarm.deliver({ input: 'Hi' });
    await settle();
    next = two.swarm;
    await clock.advance(1_000);
    expect(await delivered).toMatchObject({ accepted: true });
    next = undefined;
    two.die();
    for (let second = 0; second < 40; second += 1) {
      await settle();
      await clock.advance(1_000);
    }
    await watch.ended;
    expect(await swarm.status().catch((error: unknown) => error)).toMatchObject({ code: 'E_CONTROL_CLOSED' });
  });

  test('repeats no request that must not happen twice, and reads at the next node', async () => {
    const at = { agent: 'entry', instanceKey: 'default' };
    const requests: readonly ((swarm: Swarm) => Promise<unknown>)[] = [
      (swarm) => swarm.forkInstance({ ...at, as: 'copy' }),
      (swarm) => swarm.deleteInstance(at),
      (swarm) => swarm.retryDeadLetter({ ...at, eventId: 'e1' }),
      (swarm) => swarm.dropDeadLetter({ ...at, eventId: 'e1' }),
      (swarm) => swarm.restart(at),
      (swarm) => swarm.reload(),
      (swarm) => swarm.stop(),
    ];
    for (const request of requests) {
      const { one, two, swarm } = makeTwo();
      one.die();
      expect(await request(swarm).catch((error: unknown) => error)).toMatchObject({ code: 'E_CONTROL_CLOSED' });
      expect(two.control.calls).toEqual([]);
      expect(await swarm.questions()).toHaveLength(1);
    }
  });

  test('goes on with another node when the certificate is that of another program', async () => {
    const { one, two, swarm } = makeTwo();
    one.control.failNext(new GoondanError('E_CLUSTER_CERTIFICATE', 'Another program answers.'));
    expect(await swarm.deliver({ input: 'Hi' })).toMatchObject({ accepted: true });
    expect(two.control.calls).toHaveLength(1);
  });

  test('waits while the database is away, and then says so to those who wait for the end', async () => {
    const clock = manualClock();
    const [one, two] = [makeNode(), makeNode()];
    let isAway = true;
    const connect = async () => {
      if (isAway) throw new GoondanError('E_STORE_AWAY', 'The database shuts down.');
      return two.swarm;
    };
    const swarm = roamingSwarm(one.swarm, { connect, clock });
    // Nobody waits for the end of this watch: its rejection must not end the program.
    const watch = await swarm.watch({ types: [] }, () => undefined);
    one.die();
    for (let second = 0; second < 40; second += 1) {
      await settle();
      await clock.advance(1_000);
    }
    expect(await watch.ended.catch((error: unknown) => error)).toMatchObject({ code: 'E_STORE_AWAY' });
    const delivered = swarm.deliver({ input: 'Hi' });
    await settle();
    isAway = false;
    await clock.advance(1_000);
    expect(await delivered).toMatchObject({ accepted: true });
  });

  test('passes on an error that is not about the node', async () => {
    const { one, two, swarm } = makeTwo();
    one.control.failNext(new GoondanError('E_AGENT_UNKNOWN', 'No.'));
    expect(await swarm.deliver({ input: 'Hi' }).catch((error: unknown) => error)).toMatchObject({
      code: 'E_AGENT_UNKNOWN',
    });
    expect(two.control.calls).toEqual([]);
  });
});
