/** A running swarm, as whoever talks to its control socket sees it: `SwarmControl`, with a wire in between. */
import type { AgentAddress } from '@goondan/types';
import type { PlanReconcile } from '../config/plan-reconcile.ts';
import type { ForkedInstance } from '../workspace/journal/fork-instance.ts';
import type { DeletedInstance } from '../workspace/journal/journal.ts';
import type { SwarmGreeting } from './endpoints.ts';
import type {
  Acceptance,
  ApprovalSummary,
  AskOptions,
  DeadLetterSummary,
  Delivery,
  InstanceChoice,
  InstanceStatus,
  SwarmControl,
  SwarmNotice,
  SwarmStatus,
  TurnEnd,
  WatchFilter,
} from './swarm-control.ts';

/**
 * **Errors** — those of the swarm, with their code, message and suggestion; `E_CONTROL_CLOSED` when it is gone,
 * `E_CONTROL_SILENT` when it says nothing, `E_CONTROL_ANSWER` when it says what this version does not understand.
 */
export interface ControlClient {
  readonly path: string;
  greet(): Promise<SwarmGreeting>;
  deliver(delivery: Delivery): Promise<Acceptance>;
  ask(delivery: Delivery, options?: RemoteAskOptions): Promise<TurnEnd>;
  /** Resolves when nothing is missed any more. `listener` must not throw. */
  watch(filter: WatchFilter, listener: (notice: SwarmNotice) => void): Promise<SwarmWatch>;
  readonly cancel: SwarmControl['cancel'];
  status(): Promise<SwarmStatus>;
  instances(): Promise<readonly InstanceStatus[]>;
  deleteInstance(...parameters: Parameters<SwarmControl['deleteInstance']>): Promise<DeletedInstance>;
  forkInstance(...parameters: Parameters<SwarmControl['forkInstance']>): Promise<ForkedInstance>;
  deadLetters(choice?: InstanceChoice): Promise<readonly DeadLetterSummary[]>;
  retryDeadLetter(at: AgentAddress, eventId: string): Promise<boolean>;
  dropDeadLetter(at: AgentAddress, eventId: string): Promise<boolean>;
  approvals(): Promise<readonly ApprovalSummary[]>;
  approve(...parameters: Parameters<SwarmControl['approve']>): Promise<boolean>;
  deny(...parameters: Parameters<SwarmControl['deny']>): Promise<boolean>;
  restart(...parameters: Parameters<SwarmControl['restart']>): Promise<number>;
  reload(): Promise<PlanReconcile>;
  /** Resolves when the swarm is gone. */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
  /** Resolves when the swarm is gone, whoever stopped it and however. */
  whenStopped(): Promise<void>;
}

export interface RemoteAskOptions extends AskOptions {
  /** Cancels the turn when this process dies or the connection is lost, too. False when absent: the turn goes on. */
  readonly cancelOnDisconnect?: boolean;
}

export interface SwarmWatch {
  end(): void;
  /** Resolves when the swarm stopped or `end` was called; rejects when the connection was lost. */
  readonly ended: Promise<void>;
}
