/** A tool that runs errands, under two names. After a crash, only the call under the second name is repeated. */
import type { ToolHandler } from '@goondan/types';
import { runErrand } from './run-errand.ts';

const run: ToolHandler = async ({ agentName, instanceKey, agents, signal, workdir }, { errand }) => {
  const errands = { address: { agentName, instanceKey }, agents, signal, folder: workdir };
  const end = await runErrand(errands, JSON.parse(typeof errand === 'string' ? errand : ''));
  return JSON.parse(JSON.stringify(end));
};

export const handlers: Record<string, ToolHandler> = { run, again: run };
