/** The approval desk of a chat: asks about waiting tool calls between the lines of the conversation. */
import type { ApprovalSummary } from '@goondan/runtime';
import pc from 'picocolors';
import { ApprovalDesk } from '../approval/approval-desk.ts';
import { describeApproval } from '../approval/describe-approval.ts';
import { APPROVAL_QUESTION, type PersonAnswer, readPersonAnswer } from '../approval/person-answer.ts';
import type { Chat } from './chat.ts';
import type { ChatSwarm } from './open-chat-swarm.ts';
import { linesOf } from './screen/line.ts';

const plain = pc.createColors(false);

/**
 * Opens the desk. If the swarm was started for this chat, the desk asks about all of its calls, because nobody else can
 * be asked.
 */
export function askInChat({ swarm, isOwn }: ChatSwarm, chat: Chat): Promise<ApprovalDesk> {
  return ApprovalDesk.open({
    swarm,
    concerns: (approval) => isOwn || chat.isAbout(approval),
    ask: async (approval, signal) => {
      const lines = linesOf(describeApproval(approval, plain, true).trimEnd(), 'yellow');
      const text = await chat.ask(lines, APPROVAL_QUESTION, signal);
      return signal.aborted ? undefined : readAnswer(text, approval, chat);
    },
    tell: (text) => chat.note(text),
  });
}

function readAnswer(text: string | undefined, { id }: ApprovalSummary, chat: Chat): PersonAnswer | undefined {
  if (text !== undefined) return readPersonAnswer(text);
  chat.note(`${id} stays unanswered. \`gdn approve\` and \`gdn deny\` can answer it; Ctrl-C cancels the turn.`);
  return undefined;
}
