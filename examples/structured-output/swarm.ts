import { defineSwarm, startSwarm } from '@goondan/runtime';
import { z } from 'zod';

export const ticket = z.strictObject({
  product: z.string().describe('The product in one word.'),
  urgency: z.enum(['low', 'high']),
});

/** The swarm of `goondan.yaml`, in code. The type of its answers follows from `ticket`. */
export async function startShop(stateRoot: string) {
  const shop = await defineSwarm({
    folder: import.meta.dirname,
    resources: [
      {
        kind: 'Model',
        metadata: { name: 'demo' },
        spec: {
          provider: 'scripted',
          model: 'demo',
          options: { script: [{ say: '{ "product": "kettle", "urgency": "high" }' }] },
        },
      },
      {
        kind: 'Agent',
        metadata: { name: 'triage' },
        spec: { modelConfig: { modelRef: 'Model/demo' }, output: { schema: ticket } },
      },
      {
        kind: 'Swarm',
        metadata: { name: 'shop' },
        spec: { entryAgent: 'Agent/triage', agents: ['Agent/triage'] },
      },
    ],
  });
  return startSwarm({ ...shop, stateRoot });
}
