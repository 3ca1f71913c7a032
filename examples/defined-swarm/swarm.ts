/**
 * A swarm written in TypeScript. It has the same resources as a `goondan.yaml`, with types, and is checked in the same
 * way.
 */
import { defineSwarm, type ResourceDefinition, startSwarm, type Swarm } from '@goondan/runtime';

export const resources: ResourceDefinition[] = [
  {
    kind: 'Model',
    metadata: { name: 'scripted' },
    spec: {
      provider: 'scripted',
      model: 'shop',
      options: {
        script: [
          { when: 'price of (?<thing>\\w+)', call: { tool: 'prices__find', args: { thing: '{{thing}}' } } },
          { afterTool: 'prices__find', say: 'That is {{result.euros}} euros.' },
          { say: 'Ask me for a price.' },
        ],
      },
    },
  },
  {
    kind: 'Tool',
    metadata: { name: 'prices' },
    spec: {
      entry: './prices.ts',
      exports: [
        {
          name: 'find',
          description: 'The price of a thing.',
          parameters: { type: 'object', properties: { thing: { type: 'string' } }, required: ['thing'] },
          effects: 'none',
        },
      ],
    },
  },
  {
    kind: 'Agent',
    metadata: { name: 'clerk' },
    spec: { modelConfig: { modelRef: 'Model/scripted' }, tools: ['Tool/prices'] },
  },
  { kind: 'Swarm', metadata: { name: 'shop' }, spec: { entryAgent: 'Agent/clerk', agents: ['Agent/clerk'] } },
];

export async function startShop(stateRoot: string): Promise<Swarm> {
  const shop = await defineSwarm({ folder: import.meta.dirname, resources });
  return startSwarm({ ...shop, stateRoot });
}
