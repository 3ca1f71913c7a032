/** The parts of a swarm that its questions use. */
import type { AgentAddress } from '@goondan/types';
import type { QuestionNotice } from '../../control/swarm.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { QuestionStore } from '../../store/question-store.ts';
import type { QuestionRecord } from '../../questions/question-record.ts';
import type { Report, SwarmListener } from '../instances/swarm-listener.ts';

export interface QuestionsDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly events: Pick<Required<SwarmListener>, 'decided' | 'waitsChanged'>;
  readonly report: Report;
  readonly store: Pick<QuestionStore, 'put' | 'answer' | 'remove' | 'onChange'>;
  /** Absent if the swarm cannot have other nodes. `isOwned`: true if the instance belongs to this node. */
  readonly nodes?: Pick<QuestionStore, 'list'> & { isOwned(at: AgentAddress): boolean };
  /** The requests that the store had when this node started. */
  readonly requests: readonly QuestionRecord[];
  /** Sends a message to the process of this instance, if it has one. */
  say(at: AgentAddress, message: ToAgent): void;
  tell(notice: () => QuestionNotice): void;
  /** Returns a function that masks the secrets of this agent. */
  maskFor(agentName: string): (text: string) => string;
}
