/** The desk of a chat: asks questions between the lines of the conversation. */
import type { QuestionSummary } from '@goondan/runtime';
import { isBelowSwarm } from '@goondan/runtime/internal';
import { createColors } from '../colors.ts';
import { QuestionDesk } from '../question/question-desk.ts';
import { questionHead, questionLines } from '../question/describe-question.ts';
import type { Asker } from '../question/asker.ts';
import { askQuestion } from '../question/ask-question.ts';
import { personName } from '../question/person-name.ts';
import type { Chat } from './chat.ts';
import type { ChatSwarm } from './open-chat-swarm.ts';
import type { DiffLine, DiffTone } from '../show-diff.ts';
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
 * be asked. `suggest`: see `Asker`.
 */
export function askInChat({ swarm, isOwn }: ChatSwarm, chat: Chat, suggest: Asker['suggest']): Promise<QuestionDesk> {
  return QuestionDesk.open({
    swarm,
    concerns: (question) => isOwn || chat.isAbout(question),
    ask: async (question, signal) => {
      chat.screen.print(linesAbout(question));
      // An agent can open a terminal, too.
      const answer = isBelowSwarm() ? undefined : await askQuestion(question, chatAsker(chat, signal, suggest));
      if (answer === undefined && !signal.aborted) chat.note(suggest(describeLeft(question)));
      return answer;
    },
    tell: (text) => chat.note(suggest(text)),
    nameOfPerson: personName,
    via: 'chat',
  });
}

/** Asks in the input line. The lines of the dialogue are printed above it. */
export function chatAsker(chat: Pick<Chat, 'ask' | 'screen'>, signal: AbortSignal, suggest: Asker['suggest']): Asker {
  return {
    suggest,
    wasTyping: chat.screen.draft !== '',
    show: (lines) => chat.screen.print(lines.map(paint)),
    readLine: (prompt) => chat.ask([], prompt, signal),
    editText: (text, prompt) => chat.ask([], prompt, signal, text),
  };
}

/** Describes the question, with the difference of a change in colours. The fields of a form are asked one by one. */
export function linesAbout(question: QuestionSummary): Line[] {
  return [line(questionHead(question, plain), 'yellow'), ...questionLines(question, true, false).map(paint)];
}

function paint({ text, tone }: DiffLine): Line {
  return line(`    ${text}`, styles[tone]);
}

function describeLeft({ id, kind }: QuestionSummary): string {
  const yes = kind === 'form' ? 'answer' : 'approve';
  const elsewhere = `\`gdn ${yes} ${id}\` and \`gdn deny ${id}\` answer it from another terminal`;
  return `${id} stays unanswered. /questions asks you again; ${elsewhere}. Ctrl-C cancels the turn.`;
}
