/** Checks whether a call is allowed, from the present state alone. */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import { isSameAddress } from '../address/address-key.ts';
import { findAgentProblem, findKeyProblem } from '../address/find-address-problem.ts';
import type { CallFrame, defaultCallLimits } from './call.ts';
import { formatCallers } from './format-callers.ts';
import { callersOf } from './stamp-event.ts';

export interface CallRules {
  /** The names of the swarm's agents. */
  readonly agents: readonly string[];
  /** Returns the names of the agents that an agent may call. */
  readonly askableBy: (agentName: string) => readonly string[];
  readonly limits: Readonly<typeof defaultCallLimits>;
  /** Returns the default time limits of requests to an agent: until its turn begins, and until the turn ends. */
  readonly timesOf: (agentName: string) => { readonly queueTimeoutMs: number; readonly turnTimeoutMs: number };
}

/** Returns the reason why the call is rejected, or `undefined` if it is allowed. */
export function checkCall(
  { agents, askableBy, limits }: Omit<CallRules, 'timesOf'>,
  caller: AgentAddress,
  during: AgentEvent,
  frame: CallFrame,
): FrameError | undefined {
  const { kind, to, timeoutMs } = frame;
  const forbidden = findTargetProblem(caller.agentName, to.agentName, agents, askableBy(caller.agentName));
  if (forbidden !== undefined) return forbidden;
  const problem = findKeyProblem(to.instanceKey);
  if (problem !== undefined) return wrong(`its instanceKey ${problem}`);
  if (kind === 'send') return undefined;

  if (timeoutMs !== undefined && !(timeoutMs > 0)) return wrong(`its timeoutMs is ${timeoutMs}, not above 0`);
  const chain = callersOf(caller, during);
  const shown = () => formatCallers([...chain, to]);
  if (chain.some((waiting) => isSameAddress(waiting, to))) {
    return { code: 'E_AGENT_CYCLE', message: `A request that would wait for itself: ${shown()}.` };
  }
  if (chain.length <= limits.depth) return undefined;
  return {
    code: 'E_AGENT_DEPTH',
    message: `Requests may be nested ${limits.depth} deep, this one is deeper: ${shown()}.`,
  };
}

/** Errors show the caller only the agents that it may call. */
function findTargetProblem(
  caller: string,
  target: string,
  agents: readonly string[],
  askable: readonly string[],
): FrameError | undefined {
  const unknown = findAgentProblem(target, askable);
  if (unknown === undefined || !agents.includes(target)) return unknown;
  const allowed = askable.length === 0 ? 'It may ask no agent' : `It may ask: ${askable.join(', ')}`;
  return { code: 'E_AGENT_NOT_ALLOWED', message: `Agent "${caller}" may not ask agent "${target}". ${allowed}.` };
}

function wrong(problem: string): FrameError {
  return { code: 'E_AGENT_REQUEST', message: `A call to another agent: ${problem}.` };
}
