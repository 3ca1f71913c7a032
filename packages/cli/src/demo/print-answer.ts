/** Prints the question, then the answer. */
import { printAnswer as printText } from '../print-answer.ts';
import type { Terminal } from '../terminal.ts';

/** Indents further lines to align with the first word of the answer. */
const newLine = '\n       ';

export function printAnswer(question: string, terminal: Terminal) {
  const { colors } = terminal;
  terminal.print(`${colors.bold('You')}    ${question}\n`);
  // Prints the name `Agent` together with the first word of the answer, because a person may have to answer a question
  // before that.
  let speaker = `${colors.bold('Agent')}  `;
  const print = (text: string) => {
    terminal.print(`${speaker}${text}`);
    speaker = '';
  };
  return printText({ ...terminal, print }, newLine, true);
}
