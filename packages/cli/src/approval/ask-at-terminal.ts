/** The desk of `gdn run --input` and `gdn send --wait`: at a terminal it asks, elsewhere it says where to answer. */
import type { ApprovalSummary } from '@goondan/runtime';
import { GoondanError } from '@goondan/types';
import { askYesOrNo } from '../ask-yes-or-no.ts';
import type { Terminal } from '../terminal.ts';
import { ApprovalDesk, type PersonAnswer } from './approval-desk.ts';
import type { ApprovalSwarm } from './approval-swarm.ts';
import { describeApproval } from './describe-approval.ts';

export interface TerminalDesk {
  readonly concerns: (approval: ApprovalSummary) => boolean;
  /** The bundle, as the person would name it. */
  readonly folder: string;
}

export function askAtTerminal(swarm: ApprovalSwarm, desk: TerminalDesk, terminal: Terminal): Promise<ApprovalDesk> {
  const { concerns, folder } = desk;
  const ask = (approval: ApprovalSummary, signal: AbortSignal) =>
    terminal.canAsk ? askPerson(approval, signal, terminal) : tellWhere(approval, folder, terminal);
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
    if (error instanceof GoondanError && error.code === 'E_CANCELLED') return undefined;
    throw error;
  }
}

async function tellWhere(approval: ApprovalSummary, folder: string, terminal: Terminal): Promise<undefined> {
  const { id } = approval;
  terminal.printError(
    `A tool call waits for you:\n${describeApproval(approval, terminal.errorColors)}` +
      `Answer from another terminal: gdn approve ${id} --bundle ${folder}, or gdn deny ${id} --bundle ${folder}\n`,
  );
}
