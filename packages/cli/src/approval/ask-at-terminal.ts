/**
 * The approval desk for a single turn. At a terminal it asks the person; elsewhere it prints how to answer, or denies.
 */
import type { ApprovalSummary, Swarm } from '@goondan/runtime';
import { GoondanError } from '@goondan/types';
import { askYesOrNo } from '../ask-yes-or-no.ts';
import type { Terminal } from '../terminal.ts';
import { ApprovalDesk, type PersonAnswer } from './approval-desk.ts';
import { describeApproval } from './describe-approval.ts';

export interface TerminalDesk {
  readonly concerns: (approval: ApprovalSummary) => boolean;
  /** The bundle folder as the person would type it. */
  readonly folder: string;
  /**
   * If given, calls are denied with this note when no person can be asked. If absent, they wait for an answer from
   * another terminal.
   */
  readonly refusal?: string;
}

export function askAtTerminal(swarm: Swarm, desk: TerminalDesk, terminal: Terminal): Promise<ApprovalDesk> {
  const { concerns, folder, refusal } = desk;
  const ask = async (approval: ApprovalSummary, signal: AbortSignal) => {
    if (terminal.canAsk) return askPerson(approval, signal, terminal);
    return refusal === undefined ? tellWhere(approval, folder, terminal) : refuse(approval, refusal, terminal);
  };
  return ApprovalDesk.open({ swarm, concerns, ask, tell: (text) => terminal.printError(`${text}\n`) });
}

async function askPerson(
  approval: ApprovalSummary,
  signal: AbortSignal,
  terminal: Terminal,
): Promise<PersonAnswer | undefined> {
  const { agent, toolName } = approval;
  terminal.printError(describeApproval(approval, terminal.errorColors));
  const question = `May ${agent} run ${toolName} like this?`;
  try {
    return { isApproved: await askYesOrNo({ question, unanswered: 'Nobody answered.', signal }, terminal) };
  } catch (error) {
    if (GoondanError.is(error) && error.code === 'E_CANCELLED') return undefined;
    throw error;
  }
}

function tellWhere(approval: ApprovalSummary, folder: string, terminal: Terminal): undefined {
  const { id } = approval;
  terminal.printError(
    `A tool call waits for you:\n${describeApproval(approval, terminal.errorColors)}` +
      `Answer from another terminal: gdn approve ${id} --bundle ${folder}, or gdn deny ${id} --bundle ${folder}\n`,
  );
}

function refuse(approval: ApprovalSummary, note: string, terminal: Terminal): PersonAnswer {
  terminal.printError(
    `A tool call needs approval, but no person can be asked, so it is denied:\n${describeApproval(approval, terminal.errorColors)}`,
  );
  return { isApproved: false, note };
}
