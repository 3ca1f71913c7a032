/** Records that nobody approved a change, in the log and in the changeset. The orchestrator knows the answer first-hand. */
import type { ApprovalOutcome } from '@goondan/types';
import { toAgentAddress } from '../../control/instance-address.ts';
import { defined } from '../../json/defined.ts';
import type { QuestionRecord } from '../../questions/question-record.ts';
import { nameDoor } from '../../trace/name-answer.ts';
import type { Changesets } from '../../workspace/changesets/changesets.ts';
import { turnOf } from '../instances/swarm-listener.ts';
import type { SwarmAgents } from '../swarm/swarm-agents.ts';

/** Does nothing for an approval, and for a question about a tool call. Never rejects. */
export async function recordDenial(
  { store, report }: { readonly store: Pick<Changesets, 'note'>; readonly report: SwarmAgents['report'] },
  question: QuestionRecord,
  { decision, by, via, note }: ApprovalOutcome,
): Promise<void> {
  const { agent, eventId, traceId, kind } = question;
  const { changesetId } = question.args;
  if (kind !== 'change' || decision === 'approved' || typeof changesetId !== 'string') return;
  const door = nameDoor({ by: 'a person', ...defined({ by, via }) });
  const who = decision === 'expired' ? 'Nobody approved it in time' : `Denied${door}`;
  const told = note === undefined ? `${who}.` : `${who}: ${note}`;
  const text = `Changeset ${changesetId} of agent "${agent}" was rejected (policy_violation): ${told}`;
  const data = defined({ changesetId, agent, reason: 'policy_violation', by, via });
  report('warn', 'changeset.rejected', text, turnOf(toAgentAddress(question), eventId, traceId), data);
  // A changeset can expire before its question does. The log has the denial in any case.
  await store.note(changesetId, told).catch(() => undefined);
}
