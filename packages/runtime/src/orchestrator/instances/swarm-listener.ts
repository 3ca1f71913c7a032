/** The events of a swarm, and how its parts hear of them. */
import type { TurnOutcome } from '../../ports/turn-outcome.ts';
import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import type { AgentDescription, FromAgent } from '../../ipc/from-agent.ts';
import type { LogLevel } from '../../ports/log-line.ts';

/** Frames that are not about the process itself. */
export type AgentFrame = Exclude<
  FromAgent,
  {
    readonly type: 'ready' | 'described' | 'start.failed' | 'turn.done' | 'turn.lost' | 'pong' | 'drained' | 'replayed';
  }
>;

/** How a turn ended, with what only its process knows. */
export interface FinishedTurn extends TurnOutcome {
  readonly event: AgentEvent;
}

/** A part of a swarm implements the events that concern it. None of them may throw. */
export interface SwarmListener {
  /** Its process begins to start, or does not any more. */
  processStarting?(at: AgentAddress, isStarting: boolean): void;
  processGone?(at: AgentAddress): void;
  /** `during`: the event whose turn runs there. */
  heard?(at: AgentAddress, frame: AgentFrame, during: AgentEvent | undefined): void;
  /** Its process is ready, or has changed, and this is what it is made of. */
  described?(at: AgentAddress, description: AgentDescription): void;
  /** Also when it goes on in another process. */
  turnStarted?(at: AgentAddress, event: AgentEvent): void;
  turnFinished?(at: AgentAddress, turn: FinishedTurn): void;
  /** Nobody will get an answer from this instance to what it was asked so far. */
  requestsFailed?(at: AgentAddress, error: FrameError): void;
  /** Some instance may wait for another one, or for people, that did not before; or the other way round. */
  waitsChanged?(): void;
}

/** Writes a line to the log of the swarm. */
export type Report = (level: LogLevel, event: string, message: string, at?: AgentAddress) => void;

/** Tells each listener, in their order. `listeners` is asked at every event. */
export function tellListeners(listeners: () => readonly SwarmListener[]): Required<SwarmListener> {
  const tell = (event: (listener: SwarmListener) => void) => {
    for (const listener of listeners()) event(listener);
  };
  return {
    processStarting: (at, isStarting) => tell((each) => each.processStarting?.(at, isStarting)),
    processGone: (at) => tell((each) => each.processGone?.(at)),
    heard: (at, frame, during) => tell((each) => each.heard?.(at, frame, during)),
    described: (at, description) => tell((each) => each.described?.(at, description)),
    turnStarted: (at, event) => tell((each) => each.turnStarted?.(at, event)),
    turnFinished: (at, turn) => tell((each) => each.turnFinished?.(at, turn)),
    requestsFailed: (at, error) => tell((each) => each.requestsFailed?.(at, error)),
    waitsChanged: () => tell((each) => each.waitsChanged?.()),
  };
}
