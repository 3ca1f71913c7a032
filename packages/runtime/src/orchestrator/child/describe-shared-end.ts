import type { ChildExit } from '../../ipc/spawn.ts';

/** The end of a process that several conversations shared, by a crash or a kill. */
export interface SharedEnd extends Pick<ChildExit, 'code' | 'signal'> {
  readonly pid: number;
  /** The number of conversations in the process. */
  readonly conversations: number;
  /** The number of turns that were running. */
  readonly turns: number;
}

/** Describes the end in one line, for all conversations of the process. */
export function describeSharedEnd({ pid, code, signal, conversations, turns }: SharedEnd): string {
  const how = signal === null ? `with code ${code}` : `by ${signal}`;
  const interrupted =
    turns === 0
      ? 'No turn was interrupted.'
      : turns === 1
        ? '1 turn was interrupted, and continues in a process of its own.'
        : `${turns} turns were interrupted, and each continues in a process of its own.`;
  return `Process ${pid}, which ${conversations} conversations shared, ended ${how}. ${interrupted}`;
}
