/** The approval desk of a chat: asks about waiting tool calls between the lines of the conversation. */
import type { ApprovalSummary } from '@goondan/runtime';
import { createColors } from '../colors.ts';
import { ApprovalDesk } from '../approval/approval-desk.ts';
import { approvalHead, approvalLines } from '../approval/describe-approval.ts';
import { approvalQuestion, type PersonAnswer, readPersonAnswer } from '../approval/person-answer.ts';
import { personName } from '../approval/person-name.ts';
import type { Chat } from './chat.ts';
import type { ChatSwarm } from './open-chat-swarm.ts';
import type { DiffTone } from '../show-diff.ts';
import { type Line, line, type Style } from './screen/line.ts';

const plain = createColors(false);
const styles: Readonly<Record<DiffTone, Style>> = {
  file: 'bold',
  added: 'green',
  deleted: 'red',
  place: 'cyan',
  plain: 'yellow',
};

/**
 * Opens the desk. If the swarm was started for this chat, the desk asks about all of its calls, because nobody else can
 * be asked.
 */
export function askInChat({ swarm, isOwn }: ChatSwarm, chat: Chat): Promise<ApprovalDesk> {
  return ApprovalDesk.open({
    swarm,
    concerns: (approval) => isOwn || chat.isAbout(approval),
    ask: async (approval, signal) => {
      const text = await chat.ask(linesAbout(approval), approvalQuestion(approval), signal);
      return signal.aborted ? undefined : readAnswer(text, approval, chat);
    },
    tell: (text) => chat.note(text),
    nameOfPerson: personName,
  });
}

/** Describes the tool call, or the change with its difference in colours. */
export function linesAbout(approval: ApprovalSummary): Line[] {
  const lines = approvalLines(approval, true).map(({ text, tone }) => line(`    ${text}`, styles[tone]));
  return [line(approvalHead(approval, plain), 'yellow'), ...lines];
}

function readAnswer(text: string | undefined, { id }: ApprovalSummary, chat: Chat): PersonAnswer | undefined {
  if (text !== undefined) return readPersonAnswer(text);
  chat.note(`${id} stays unanswered. \`gdn approve\` and \`gdn deny\` can answer it; Ctrl-C cancels the turn.`);
  return undefined;
}
