/** The approval desk of a chat: asks about waiting tool calls between the lines of the conversation. */
import type { QuestionSummary } from '@goondan/runtime';
import { createColors } from '../colors.ts';
import { QuestionDesk } from '../question/question-desk.ts';
import { questionHead, questionLines } from '../question/describe-question.ts';
import { promptOf, type PersonAnswer, readPersonAnswer } from '../question/person-answer.ts';
import { personName } from '../question/person-name.ts';
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
export function askInChat({ swarm, isOwn }: ChatSwarm, chat: Chat): Promise<QuestionDesk> {
  return QuestionDesk.open({
    swarm,
    concerns: (question) => isOwn || chat.isAbout(question),
    ask: async (question, signal) => {
      const text = await chat.ask(linesAbout(question), promptOf(question), signal);
      return signal.aborted ? undefined : readAnswer(text, question, chat);
    },
    tell: (text) => chat.note(text),
    nameOfPerson: personName,
    via: 'chat',
  });
}

/** Describes the tool call, or the change with its difference in colours. */
export function linesAbout(question: QuestionSummary): Line[] {
  const lines = questionLines(question, true).map(({ text, tone }) => line(`    ${text}`, styles[tone]));
  return [line(questionHead(question, plain), 'yellow'), ...lines];
}

function readAnswer(text: string | undefined, { id }: QuestionSummary, chat: Chat): PersonAnswer | undefined {
  if (text !== undefined) return readPersonAnswer(text);
  chat.note(`${id} stays unanswered. \`gdn approve\` and \`gdn deny\` can answer it; Ctrl-C cancels the turn.`);
  return undefined;
}
