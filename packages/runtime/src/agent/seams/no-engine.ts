import { GoondanError } from '@goondan/types';
import type { Engine } from './engine.ts';

/** For an agent that runs alone: there is nobody to call. */
export const noEngine: Engine = {
  catalog: () => [],
  list: () => Promise.resolve([]),
  deliver: (to) => Promise.reject(nobody(to.agentName)),
  request: (to) => Promise.reject(nobody(to.agentName)),
};

function nobody(target: string): GoondanError {
  return new GoondanError('E_AGENT_UNKNOWN', `There is no agent "${target}": this agent runs alone.`);
}
