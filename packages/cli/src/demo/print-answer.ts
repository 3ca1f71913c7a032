/** The question, then the answer. */
import { type AnswerPrinter, printAnswer as printText } from '../print-answer.ts';
import type { Terminal } from '../terminal.ts';

/** Under the first word of the answer. */
const newLine = '\n       ';

export function printAnswer(question: string, terminal: Terminal): AnswerPrinter {
  const { colors } = terminal;
  terminal.print(`${colors.bold('You')}    ${question}\n`);
  // Who answers is said with the first word: a person may have to be asked before.
  let speaker = `${colors.bold('Agent')}  `;
  const print = (text: string) => {
    terminal.print(`${speaker}${text}`);
    speaker = '';
  };
  return printText({ ...terminal, print }, newLine, true);
}
