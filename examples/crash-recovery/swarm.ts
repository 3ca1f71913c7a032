/** A cook whose process is killed in the middle of its work. The next process continues from there. */
import { startSwarm, type Swarm } from '@goondan/runtime';

export function startKitchen(stateRoot: string): Promise<Swarm> {
  return startSwarm({
    name: 'kitchen',
    stateRoot,
    agents: [
      {
        agentName: 'cook',
        workdir: stateRoot,
        models: {
          'Model/scripted': {
            provider: 'scripted',
            model: 'kitchen',
            options: {
              script: [
                { when: 'soup and pie', call: { tool: 'kitchen__soup', args: {} } },
                { afterTool: 'kitchen__soup', call: { tool: 'kitchen__pie', args: {} } },
                { say: 'Served.' },
              ],
            },
          },
        },
        tools: [
          {
            name: 'kitchen',
            root: import.meta.dirname,
            entry: './slow-tool.ts',
            // Cooking twice does no harm, so a call that a crash interrupted is repeated.
            exports: [
              { name: 'soup', description: 'Cooks a soup.', idempotent: true },
              { name: 'pie', description: 'Bakes a pie.', idempotent: true },
            ],
          },
        ],
      },
    ],
  });
}
