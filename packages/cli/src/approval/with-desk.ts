import type { Acceptance, ApprovalSummary, Swarm } from '@goondan/runtime';
import type { Terminal } from '../terminal.ts';
import type { ApprovalDesk } from './approval-desk.ts';
import { askAtTerminal } from './ask-at-terminal.ts';

export interface DeskPlace {
  readonly swarm: Swarm;
  /** The bundle folder as the person would type it. */
  readonly folder: string;
  /** True when no other person can answer approval requests of this swarm. */
  readonly isAlone: boolean;
  /** See `askAtTerminal`. */
  readonly refusal?: string;
}

export interface OpenDesk {
  readonly desk: ApprovalDesk;
  /**
   * Call it when the input is accepted. From then on the desk asks about calls of this turn, and of an earlier turn
   * that delays it.
   */
  readonly onAccepted: (acceptance: Acceptance) => void;
}

/** Runs `work`; meanwhile the person at the terminal, if any, is asked about tool calls. */
export async function withDesk<Value>(
  { swarm, isAlone, ...place }: DeskPlace,
  terminal: Terminal,
  work: (open: OpenDesk) => Promise<Value>,
): Promise<Value> {
  let own: Acceptance | undefined;
  const concerns = ({ traceId, agent, instanceKey }: ApprovalSummary) =>
    isAlone || traceId === own?.traceId || (agent === own?.agent && instanceKey === own.instanceKey);
  const desk = await askAtTerminal(swarm, { concerns, ...place }, terminal);
  const onAccepted = (acceptance: Acceptance) => {
    own = acceptance;
    desk.look();
  };
  try {
    return await work({ desk, onAccepted });
  } finally {
    desk.close();
  }
}
