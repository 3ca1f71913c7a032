/** The swarm of goondan.yaml, written in TypeScript. Only the type of the tool's module is imported here. */
import { defineSwarm, type DefinedSwarm, type ResourceDefinition, toolFile } from '@goondan/runtime';
import type * as dice from './tools/dice.ts';

const tool = toolFile<typeof dice>(import.meta.url, './tools/dice.ts');

const model: ResourceDefinition = {
  kind: 'Model',
  metadata: { name: 'main' },
  spec: {
    provider: 'scripted',
    model: 'scripted',
    options: {
      script: [
        { when: 'roll', call: { tool: 'dice__roll', args: { sides: 6 } } },
        { afterTool: 'dice__roll', say: '{{result.text}}' },
      ],
    },
  },
};

const agent: ResourceDefinition = {
  kind: 'Agent',
  metadata: { name: 'assistant' },
  spec: { modelConfig: { modelRef: 'Model/main' }, tools: ['Tool/dice'] },
};

const swarm: ResourceDefinition = {
  kind: 'Swarm',
  metadata: { name: 'play' },
  spec: { entryAgent: 'Agent/assistant', agents: ['Agent/assistant'] },
};

export function definePlay(): Promise<DefinedSwarm> {
  return defineSwarm({ folder: import.meta.dirname, resources: [tool, model, agent, swarm] });
}
