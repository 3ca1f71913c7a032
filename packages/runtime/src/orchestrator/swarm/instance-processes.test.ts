import { expect, test } from 'bun:test';
import { openFakeSwarm, removeFakeSwarm } from '../../testing/fake-swarm.ts';

test.each([
  ['a new conversation', { newEpoch: 3 }, true],
  ['a known conversation', {}, false],
] as const)('S-04 the process of %s in a store elsewhere is served, and gets no place', async (_name, epoch, isNew) => {
  const order: unknown[] = [];
  const swarm = await openFakeSwarm(async () => 'done', {
    served: {
      startOf: () => ({ isElsewhere: true, ...epoch }),
      serve: (_channel, at) => void order.push(['served', at]),
    },
    beforeSend(message) {
      if (typeof message !== 'object' || message === null || !('plan' in message)) return;
      // Safe: the only message with a plan is the start of an agent.
      const { store, isNew: isKnownNew } = message.plan as { readonly store: unknown; readonly isNew: boolean };
      order.push(['started', store, isKnownNew]);
    },
  });
  try {
    await swarm.send('a', 'hello', { instanceKey: 'k' });
    expect(order).toEqual([
      ['served', { agentName: 'a', instanceKey: 'k' }],
      ['started', { isElsewhere: true, ...epoch }, isNew],
    ]);
  } finally {
    await swarm.close();
    removeFakeSwarm(swarm);
  }
});
