/** Starting a child as a parameter: real processes in the field, both ends in one process in tests. */
import type { Channel } from './channel/channel.ts';
import type { Language } from './codec.ts';

export interface SpawnRequest {
  /** For messages: `agent coder/default`. */
  readonly name: string;
  /** The program: a file for Bun. */
  readonly runner: string;
  /** Where messages too long for a frame go; the child's first argument. Removed with the child. */
  readonly frameFolder: string;
  /** After that one. It starts in nobody's folder, and moves into its own by itself. */
  readonly args?: readonly string[];
  /** What the resource declares, beside what every child gets. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Hears what the child prints. Secrets are not masked in it. Must not throw. */
  readonly onOutput?: (output: ChildOutput) => void;
}

export type OutputStream = 'stdout' | 'stderr';

export type ChildOutput =
  | { readonly kind: 'line'; readonly stream: OutputStream; readonly text: string }
  /** So many lines were let go before this one: there were too many at once. */
  | { readonly kind: 'dropped'; readonly stream: OutputStream; readonly lines: number };

export interface ChildExit {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  /** How many processes it had started and not ended; they are ended now. */
  readonly leftBehind: number;
}

export interface ChildProcess<Down, Up> {
  readonly pid: number;
  readonly channel: Channel<Down, Up>;
  /** Resolves once, when the child is gone, its last messages were heard, and nothing it started is left. */
  readonly exited: Promise<ChildExit>;
  /** Asks the whole group to end (SIGTERM) and after `graceMs` ends it (SIGKILL); at once when that is 0. */
  kill(graceMs: number): Promise<ChildExit>;
  /** The last lines it printed, for whoever has to say why it is gone. */
  recentOutput(): readonly ChildOutput[];
}

/** Throws `E_PROCESS_START`. */
export type Spawn = <Down, Up>(language: Language<Down, Up>, request: SpawnRequest) => ChildProcess<Down, Up>;
