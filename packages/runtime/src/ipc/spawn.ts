/** Starting a child as a parameter: real processes in production, both ends in one process in tests. */
import type { Channel } from './channel/channel.ts';
import type { Language } from './codec.ts';

export interface SpawnRequest {
  /** The name in messages: `agent coder/default`. */
  readonly name: string;
  /** The program: a file for Bun. */
  readonly runner: string;
  /** The folder for messages too long for a frame; the child's first argument. Removed with the child. */
  readonly frameFolder: string;
  /** Further arguments. The child starts in the root folder and changes into its own folder itself. */
  readonly args?: readonly string[];
  /** Variables that the resource declares, in addition to those of every child. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Receives the output of the child, with unmasked secrets. Must not throw. */
  readonly onOutput?: (output: ChildOutput) => void;
}

export type ChildOutput =
  | { readonly kind: 'line'; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  /** The number of lines dropped before this one: there were too many at once. */
  | { readonly kind: 'dropped'; readonly stream: 'stdout' | 'stderr'; readonly lines: number };

export interface ChildExit {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  /** The number of processes it had started and not ended; they are ended now. */
  readonly leftBehind: number;
}

export interface ChildProcess<Down, Up> {
  readonly pid: number;
  readonly channel: Channel<Down, Up>;
  /** Resolves once, when the child is gone, its last messages were read, and no process it started is left. */
  readonly exited: Promise<ChildExit>;
  /** Asks the whole group to end (SIGTERM), and kills it after `graceMs` (SIGKILL); at once when that is 0. */
  kill(graceMs: number): Promise<ChildExit>;
  /** Returns the last printed lines, to explain the end of the process. */
  recentOutput(): readonly ChildOutput[];
}

/** Throws `E_PROCESS_START`. */
export type Spawn = <Down, Up>(language: Language<Down, Up>, request: SpawnRequest) => ChildProcess<Down, Up>;
