/** The parts of a swarm that its approvals use. */
import type { AgentAddress } from '@goondan/types';
import type { ApprovalNotice } from '../../control/swarm.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { ApprovalStore } from '../../store/approval-store.ts';
import type { ApprovalRecord } from '../../workspace/approvals/approval-record.ts';
import type { Report, SwarmListener } from '../instances/swarm-listener.ts';

export interface ApprovalsDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly events: Pick<Required<SwarmListener>, 'decided' | 'waitsChanged'>;
  readonly report: Report;
  readonly store: Pick<ApprovalStore, 'put' | 'answer' | 'remove' | 'onChange'>;
  /** Absent if the swarm cannot have other nodes. `isOwned`: true if the instance belongs to this node. */
  readonly nodes?: Pick<ApprovalStore, 'list'> & { isOwned(at: AgentAddress): boolean };
  /** The requests that the store had when this node started. */
  readonly requests: readonly ApprovalRecord[];
  /** Sends a message to the process of this instance, if it has one. */
  say(at: AgentAddress, message: ToAgent): void;
  tell(notice: () => ApprovalNotice): void;
  /** Returns a function that masks the secrets of this agent. */
  maskFor(agentName: string): (text: string) => string;
}
