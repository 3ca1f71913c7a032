import { shortIdOfEvent, shortTurnId } from '@goondan/runtime/internal';
import { harmlessText } from './harmless-text.ts';
import type { Terminal } from './terminal.ts';

/** Says that an id belongs to an input which a turn took while it ran. `typed`: the id of the event, or its beginning. */
export function tellTaken(typed: string, turnId: string, { printError }: Pick<Terminal, 'printError'>): void {
  const [input, turn] = [shortIdOfEvent(typed), shortTurnId(turnId)].map((id) => harmlessText(id));
  printError(`The input ${input} has no turn of its own: turn ${turn} took it while it ran.\n`);
}
