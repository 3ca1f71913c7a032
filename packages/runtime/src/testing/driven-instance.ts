/** One instance of the state machine of supervision, without processes, for tests. */
import type { AgentEvent } from '@goondan/types';
import { stepInstance } from '../orchestrator/supervision/instance-machine.ts';
import {
  type InstanceAction,
  type InstanceInput,
  type InstanceState,
  newInstance,
} from '../orchestrator/supervision/instance-state.ts';
import { defaultSupervisionPolicy, type SupervisionPolicy } from '../orchestrator/supervision/supervision-policy.ts';
import type { TurnOutcome } from '../ports/turn-outcome.ts';

export const outcome: TurnOutcome = {
  result: { turnId: 'turn', finishReason: 'text_response' },
  stepCount: 1,
  usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
};

export function eventOf(id: string, more: Partial<AgentEvent> = {}): AgentEvent {
  return {
    id,
    type: 'agent.message',
    instanceKey: 'default',
    source: { kind: 'cli', name: 'test' },
    traceId: 'trace',
    createdAt: new Date(0),
    ...more,
  };
}

type Work = Extract<InstanceInput, { type: 'work' }>;
type TurnDone = Extract<InstanceInput, { type: 'turn.done' }>;

/** Has its own time. Its methods return what `see` returns for the actions that follow. */
export class DrivenInstance<Seen> {
  state: InstanceState = newInstance;
  now = 0;

  constructor(
    readonly see: (action: InstanceAction) => readonly Seen[],
    public policy: SupervisionPolicy = defaultSupervisionPolicy,
  ) {}

  /** Returns all actions. */
  do(...inputs: InstanceInput[]): InstanceAction[] {
    return inputs.flatMap((input) => {
      const { state, actions } = stepInstance(this.state, input, this.now, this.policy);
      this.state = state;
      return [...actions];
    });
  }

  acts(...inputs: InstanceInput[]): Seen[] {
    return this.do(...inputs).flatMap((action) => this.see(action));
  }

  /** The number of the last process. */
  get process(): number {
    return this.state.spawned;
  }

  work(id: string, more: Partial<Work> = {}): Seen[] {
    return this.acts({ type: 'work', seq: 1, event: eventOf(id), ...more });
  }

  /** Starts a process, and returns what follows when it is ready. */
  start(takesAhead?: true): Seen[] {
    this.do({ type: 'slot.granted' });
    return this.acts({ type: 'ready', process: this.process, ...(takesAhead && { takesAhead }) });
  }

  done(eventId: string, more: Partial<TurnDone> = {}): Seen[] {
    return this.acts({ type: 'turn.done', process: this.process, eventId, outcome, ...more });
  }

  /** Ends the process by itself (`ended`), or by a kill: its own one, or a shared one (`together`, `alone`). */
  exit(how: 'killed' | 'ended' | 'together' | 'alone' = 'killed'): Seen[] {
    const end = how === 'ended' ? { code: 0, signal: null } : { code: null, signal: 'SIGKILL' };
    const sharing = how === 'together' || how === 'alone' ? { sharing: how } : {};
    return this.acts({ type: 'exited', process: this.process, ...end, ...sharing });
  }
}

/** Names the actions of turns by their type and their event. */
export function nameTurns(action: InstanceAction): string[] {
  switch (action.type) {
    case 'turn.send':
    case 'turn.ahead':
    case 'turn.steer':
    case 'turn.started':
      return [`${action.type} ${action.event.id}`];
    case 'turn.finished':
      return [`${action.type} ${action.event.id}${action.isTaken === true ? ' taken' : ''}`];
    case 'turn.back':
    case 'turn.cancel':
      return [`${action.type} ${action.eventId}`];
    default:
      return [];
  }
}
