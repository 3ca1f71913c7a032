import { InvalidArgumentError } from 'commander';

/** Checks an input from the command line. */
export function checkInput(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('It is empty.');
}
