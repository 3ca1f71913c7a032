/** The agents whose turns `cancelling-swarm.ts` cancels. They run again in the next swarm. */
import type { DeclaredAgent } from '@goondan/runtime/bundle';
import { extensionOf, scriptedAgent } from './kit.ts';

/**
 * The state of the turn when it is cancelled. `crashed`: the turn waits for its next process. `asking`: the turn waits
 * for another agent.
 */
export type Situation = 'running' | 'waiting' | 'crashed' | 'asking';

export function cancelledAgents(workdir: string): readonly DeclaredAgent[] {
  const call = { tool: 'agents__request', args: { target: 'clerk', input: 'be deaf', timeoutMs: 600_000 } };
  return [
    scriptedAgent('clerk', { workdir, extensions: [extensionOf('deaf', { folder: workdir })] }),
    scriptedAgent('front', { workdir, agentTools: true, script: [{ when: '^please', call }] }),
  ];
}
