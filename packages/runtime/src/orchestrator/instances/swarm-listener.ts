/** The events of a swarm, and how its parts receive them. */
import type { TurnOutcome } from '../../ports/turn-outcome.ts';
import type { AgentAddress, AgentEvent, ApprovalOutcome } from '@goondan/types';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import type { AgentDescription, FromAgent } from '../../ipc/from-agent.ts';
import { turnIdOf } from '../../ports/ids.ts';
import type { LogLevel } from '../../ports/log-line.ts';
import type { QuestionRecord } from '../../questions/question-record.ts';

/** Frames that are not about the process itself. */
export type AgentFrame = Exclude<FromAgent, { readonly type: FrameOfProcess }>;

type FrameOfProcess =
  'ready' | 'described' | 'start.failed' | `turn.${'begun' | 'done' | 'lost'}` | 'pong' | 'drained' | 'replayed';

/** The end of a turn, with the figures that only its process knows. */
export interface FinishedTurn extends TurnOutcome {
  readonly event: AgentEvent;
  /** True if the turn of another event has taken this one: the end and its figures are those of that turn. */
  readonly isTaken?: true;
  /** The trace of that turn; absent if the event has a turn of its own, with the trace of the event. */
  readonly traceId?: string;
}

/** The events of a swarm; each part implements those it needs. No listener may throw. */
export interface SwarmListener {
  /** A process starts, or has finished starting. */
  processStarting?(at: AgentAddress, isStarting: boolean): void;
  processGone?(at: AgentAddress): void;
  /** `during`: the event of the running turn. */
  heard?(at: AgentAddress, frame: AgentFrame, during: AgentEvent | undefined): void;
  /** The process became ready or its parts changed; `description` lists the parts. */
  described?(at: AgentAddress, description: AgentDescription): void;
  /** A turn begins, or continues in another process. */
  turnStarted?(at: AgentAddress, event: AgentEvent): void;
  turnFinished?(at: AgentAddress, turn: FinishedTurn): void;
  /** The store has input of this instance that is not queued, and refused a turn for this reason. */
  inputMissed?(at: AgentAddress): void;
  /** A question to people was answered, or has expired. */
  decided?(question: QuestionRecord, outcome: ApprovalOutcome): void;
  /** Open requests to this instance will get no answer. */
  requestsFailed?(at: AgentAddress, error: FrameError): void;
  /** An instance may have begun or stopped waiting for another instance, or for people. */
  waitsChanged?(): void;
}

/** Writes a line to the log of the swarm. */
export type Report = (level: LogLevel, event: string, message: string, at?: ReportSubject) => void;

/** The agent that a line of the log is about, its instance and its turn if the line is about one. */
export interface ReportSubject {
  readonly agentName: string;
  readonly instanceKey?: string;
  readonly turnId?: string;
  readonly traceId?: string;
}

/** Returns the subject of a line about the turn of an event. */
export function turnOf({ agentName, instanceKey }: AgentAddress, eventId: string, traceId?: string): ReportSubject {
  return { agentName, instanceKey, turnId: turnIdOf(eventId), ...(traceId === undefined ? {} : { traceId }) };
}

/** Calls each listener, in order. `listeners` is called at every event. */
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
    inputMissed: (at) => tell((each) => each.inputMissed?.(at)),
    decided: (question, outcome) => tell((each) => each.decided?.(question, outcome)),
    requestsFailed: (at, error) => tell((each) => each.requestsFailed?.(at, error)),
    waitsChanged: () => tell((each) => each.waitsChanged?.()),
  };
}
