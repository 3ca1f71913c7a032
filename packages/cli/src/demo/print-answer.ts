/** The question, then the answer. */
import { type AnswerPrinter, printAnswer as printText } from '../print-answer.ts';
import type { Terminal } from '../terminal.ts';

/** Under the first word of the answer. */
const newLine = '\n       ';

export function printAnswer(question: string, terminal: Terminal): AnswerPrinter {
  const { print, colors } = terminal;
  print(`${colors.bold('You')}    ${question}\n${colors.bold('Agent')}  `);
  return printText(terminal, newLine, true);
}
