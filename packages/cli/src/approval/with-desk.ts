/**
 * The approval desk for a single turn. At a terminal it asks the person; elsewhere it prints how to answer, or denies.
 */
import type { Acceptance, ApprovalSummary, Swarm } from '@goondan/runtime';
import { GoondanError } from '@goondan/types';
import { askYesOrNo } from '../ask-yes-or-no.ts';
import type { Terminal } from '../terminal.ts';
import { ApprovalDesk, type PersonAnswer } from './approval-desk.ts';
import { describeApproval } from './describe-approval.ts';

export interface DeskPlace {
  readonly swarm: Swarm;
  /** The bundle folder as the person would type it. */
  readonly folder: string;
  /** True when no other person can answer approval requests of this swarm. */
  readonly isAlone: boolean;
  /**
   * If given, calls are denied with this note when no person can be asked. If absent, they wait for an answer from
   * another terminal.
   */
  readonly refusal?: string;
}

/**
 * Runs `work`; meanwhile the person at the terminal, if any, is asked about tool calls. `work` calls `onAccepted` when
 * the input is accepted. From then on the desk asks about calls of this turn, of turns that it causes, and of an
 * earlier turn that it has to wait for.
 */
export async function withDesk<Value>(
  { swarm, isAlone, folder, refusal }: DeskPlace,
  terminal: Terminal,
  work: (desk: ApprovalDesk, onAccepted: (acceptance: Acceptance) => void) => Promise<Value>,
): Promise<Value> {
  let own: Acceptance | undefined;
  const desk = await ApprovalDesk.open({
    swarm,
    concerns: ({ traceId, agent, instanceKey }) =>
      isAlone || traceId === own?.traceId || (agent === own?.agent && instanceKey === own.instanceKey),
    async ask(approval, signal) {
      if (terminal.canAsk) return askPerson(approval, signal, terminal);
      return refusal === undefined ? tellWhere(approval, folder, terminal) : refuse(approval, refusal, terminal);
    },
    tell: (text) => terminal.printError(`${text}\n`),
  });
  const onAccepted = (acceptance: Acceptance) => {
    own = acceptance;
    desk.look();
  };
  try {
    return await work(desk, onAccepted);
  } finally {
    desk.close();
  }
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
