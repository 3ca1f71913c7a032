/** A tool that runs errands. After a crash it is not repeated; under its second name it is. */
import type { ToolHandler } from '@goondan/types';
import { runErrand } from './run-errand.ts';

const run: ToolHandler = async ({ agentName, instanceKey, agents, signal, workdir }, { errand }) => {
  const errands = { address: { agentName, instanceKey }, agents, signal, folder: workdir };
  const end = await runErrand(errands, JSON.parse(typeof errand === 'string' ? errand : ''));
  return JSON.parse(JSON.stringify(end));
};

export const handlers: Record<string, ToolHandler> = { run, again: run };
