/**
 * The function that starts child processes, which is passed as a parameter. It starts real processes in production; in
 * tests, both ends run in one process.
 */
import type { ChannelEnd } from './channel/channel.ts';
import type { Language } from './codec.ts';
import type { BlockedCode } from './running-code.ts';

export interface SpawnRequest {
  /** The name of the child in messages, such as `agent coder/default`. */
  readonly name: string;
  /** The path of the program, which Bun runs. */
  readonly runner: string;
  /**
   * The folder for messages that are too long for a frame; it is the child's first argument, and is removed with the
   * child.
   */
  readonly frameFolder: string;
  /** Further arguments. The child starts in the root folder and changes to its own folder itself. */
  readonly args?: readonly string[];
  /** Environment variables that the resource declares, in addition to those of every child. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Receives the output of the child, with unmasked secrets. Must not throw. */
  readonly onOutput?: (output: ChildOutput) => void;
}

export type ChildOutput =
  /** `cutOff`: the number of characters after `text` that were left out, because the line was too long. */
  | { readonly kind: 'line'; readonly stream: 'stdout' | 'stderr'; readonly text: string; readonly cutOff?: number }
  /** The number of lines that were dropped at this point, because too many came at once. */
  | { readonly kind: 'dropped'; readonly stream: 'stdout' | 'stderr'; readonly lines: number };

export interface ChildExit {
  /** The exit code; null when a signal ended the child. */
  readonly code: number | null;
  readonly signal: string | null;
  /** The number of processes that the child had started and left running; they were ended. */
  readonly leftBehind: number;
  /**
   * Set for a conversation in a shared process. If the process has ended: `together` if other conversations were open in
   * it, otherwise `alone`. `left` if only the conversation was closed, and the process continues with others. Absent for
   * a process that ended with its last conversation.
   */
  readonly sharing?: 'together' | 'alone' | 'left';
  /** The code in which the child was blocked, in words. For a conversation in a shared process: only its own code. */
  readonly blocked?: string;
}

export interface ChildProcess<Down, Up> {
  readonly pid: number;
  readonly channel: ChannelEnd<Down, Up>;
  /** The shared process of a child that is only a seat in it. `changes`: see `Instance.changes`. */
  readonly shared?: { readonly changes: number };
  /** Resolves once, when the child has exited, its last messages were read, and no process that it started is left. */
  readonly exited: Promise<ChildExit>;
  /** Called when the child does not answer. Returns the code in which it is blocked, if that is known. */
  readonly hung?: () => BlockedCode | undefined;
  /** Sends SIGTERM to the whole process group, and SIGKILL after `graceMs`. If `graceMs` is 0, sends only SIGKILL. */
  kill(graceMs: number): Promise<ChildExit>;
}

/** Starts a child. Throws `E_PROCESS_START`. */
export type Spawn = <Down, Up>(language: Language<Down, Up>, request: SpawnRequest) => ChildProcess<Down, Up>;
