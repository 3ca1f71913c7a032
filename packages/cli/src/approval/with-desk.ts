import type { Acceptance, ApprovalSummary, Swarm } from '@goondan/runtime';
import type { Terminal } from '../terminal.ts';
import type { ApprovalDesk } from './approval-desk.ts';
import { askAtTerminal } from './ask-at-terminal.ts';

export interface DeskPlace {
  readonly swarm: Swarm;
  /** The bundle, as the person would name it. */
  readonly folder: string;
  /** Nobody else is there to answer what the swarm asks people. */
  readonly isAlone: boolean;
  /** As `askAtTerminal` takes it. */
  readonly refusal?: string;
}

export interface OpenDesk {
  readonly desk: ApprovalDesk;
  /** From now on what this turn asks people is asked here, and so is what holds it up: an earlier turn there. */
  readonly onAccepted: (acceptance: Acceptance) => void;
}

/** Runs work during which the person at the terminal, if there is one, is asked about tool calls. */
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
