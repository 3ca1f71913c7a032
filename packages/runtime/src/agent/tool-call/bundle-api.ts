/**
 * `ctx.bundle`: lets a tool change the bundle of its swarm. The orchestrator keeps the changesets; this file asks it, and
 * asks the person who must approve a commit.
 *
 * 1. Nothing is recorded here except the person's answer. A replay serves the recorded result of the tool and never gets
 *    here; a handler that runs again after a crash asks again, and the orchestrator knows what was committed.
 * 2. The approval is given back only after the commit has ended, because the orchestrator checks it during the commit.
 */
import {
  type BundleApi,
  type ChangesetCommitResult,
  type ChangesetEvent,
  GoondanError,
  type JsonObject,
} from '@goondan/types';
import type { ChangesetReview } from '../../ipc/changeset-answers.ts';
import { defined } from '../../json/defined.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';
import { askPerson, type PersonAnswer } from './ask-person.ts';
import { type HandlerRun, waitInHandler } from './handler-run.ts';
import type { RunningToolCall } from './running-tool-call.ts';

export function bundleApi(turn: RunningTurn, run: HandlerRun): BundleApi {
  const { changesets } = turn.agent;
  // Aborts also when the call is over, because a handler may return without waiting for its requests.
  const signal = () => AbortSignal.any([run.bounds.signal, run.call.approvals.signal]);
  return {
    open: async () => changesets.ask({ kind: 'open' }, signal()),
    async read(changesetId, path) {
      checkId(changesetId);
      checkPath(path);
      const { content } = await changesets.ask({ kind: 'read', changesetId, path }, signal());
      return content;
    },
    async write(changesetId, path, content) {
      checkId(changesetId);
      checkPath(path);
      if (content !== null && typeof content !== 'string') {
        throw new GoondanError(
          'E_CHANGESET_FILE',
          `The content of "${path}" must be a text, or null to delete the file.`,
        );
      }
      await changesets.ask({ kind: 'write', changesetId, path, ...(content === null ? {} : { content }) }, signal());
    },
    async commit(changesetId) {
      checkId(changesetId);
      // Checks, trials and people have limits of their own, so the tool's deadline is paused.
      run.bounds.deadline.pause();
      try {
        const outcome = await commit(turn, run, changesetId, signal());
        tellOutcome(turn, run.call, outcome);
        return outcome;
      } finally {
        run.bounds.deadline.resume();
      }
    },
  };
}

/** Returns an outcome for everything that went wrong, unless the call itself is over. */
async function commit(
  turn: RunningTurn,
  run: HandlerRun,
  changesetId: string,
  signal: AbortSignal,
): Promise<ChangesetCommitResult> {
  try {
    const answer = await turn.agent.changesets.ask({ kind: 'review', changesetId }, signal);
    if ('outcome' in answer) return answer.outcome;
    const { review } = answer;
    if (!review.needsApproval) return await replaceFiles(turn, review, undefined, signal);
    const approval = await askAbout(turn, run, review, signal);
    const { id, outcome } = approval;
    if (outcome.decision === 'approved') return await replaceFiles(turn, review, id, signal);
    if (id !== undefined) turn.agent.approver.taken(id);
    return { status: 'rejected', changesetId, reason: 'policy_violation', message: describeRefusal(approval) };
  } catch (error) {
    if (signal.aborted || !GoondanError.is(error) || error.code === 'E_IPC_CLOSED') throw error;
    return { status: 'error', changesetId, error: { code: error.code, message: error.message } };
  }
}

function askAbout(
  turn: RunningTurn,
  run: HandlerRun,
  { toApprove, expiresInMs }: ChangesetReview,
  signal: AbortSignal,
): Promise<PersonAnswer> {
  const { call } = run;
  const { agentName } = turn.agent.address;
  const count = toApprove.files.length;
  return askPerson(turn, call, {
    key: turn.effects.nextKey(`${call.key}/change`, 'approval'),
    kind: 'change',
    // Safe: a diff is JSON.
    args: toApprove as unknown as JsonObject,
    reason: `Agent ${agentName} wants to change ${count} ${count === 1 ? 'file' : 'files'} of its bundle.`,
    expiresInMs,
    signal,
    resting: (wait) => waitInHandler(turn, run, wait),
  });
}

async function replaceFiles(
  { agent: { changesets, approver } }: RunningTurn,
  { toApprove: { changesetId, digest } }: ChangesetReview,
  approvalId: string | undefined,
  signal: AbortSignal,
): Promise<ChangesetCommitResult> {
  try {
    const request = { kind: 'commit', changesetId, digest, ...defined({ approvalId }) } as const;
    return (await changesets.ask(request, signal)).outcome;
  } finally {
    // If the wait was aborted, the orchestrator deletes the approval when the turn ends.
    if (approvalId !== undefined && !signal.aborted) approver.taken(approvalId);
  }
}

function describeRefusal({ outcome: { decision, by, note } }: PersonAnswer): string {
  if (decision === 'expired') return 'Nobody approved the change in time.';
  return `${by ?? 'A person'} denied the change.${note === undefined ? '' : ` They say: ${note}`}`;
}

const eventNames = { ok: 'changeset.commit', rejected: 'changeset.rejected', error: 'changeset.error' } as const;

function tellOutcome(
  { agent, turnId }: RunningTurn,
  { spanIds }: RunningToolCall,
  outcome: ChangesetCommitResult,
): void {
  const kind = eventNames[outcome.status];
  const { agentName, instanceKey } = agent.address;
  agent.bus.tell(kind, (): ChangesetEvent => ({
    type: 'swarm.event',
    kind,
    recordedAt: agent.clock.now().toISOString(),
    instanceId: `${agentName}/${instanceKey}`,
    instanceKey,
    swarmName: agent.changesets.swarmName,
    agentName,
    turnId,
    data: dataOf(outcome),
    ...spanIds.fields,
  }));
}

function dataOf(outcome: ChangesetCommitResult): ChangesetEvent['data'] {
  const { status, changesetId } = outcome;
  switch (outcome.status) {
    case 'ok':
      return { changesetId, baseRef: outcome.baseRef, newRef: outcome.newRef, status };
    case 'rejected':
      return { changesetId, status, reason: outcome.reason, message: outcome.message };
    case 'error':
      return { changesetId, status, reason: outcome.error.code, message: outcome.error.message };
  }
}

/** The maximum length of an id and of a path, as frames of the process allow them. */
const LONGEST_NAME = 1_000;

function checkId(changesetId: unknown): void {
  if (typeof changesetId === 'string' && changesetId !== '' && changesetId.length <= LONGEST_NAME) return;
  throw new GoondanError('E_CHANGESET_UNKNOWN', 'The id of a changeset must be a text, as `open` returned it.');
}

function checkPath(path: unknown): void {
  if (typeof path === 'string' && path !== '' && path.length <= LONGEST_NAME) return;
  throw new GoondanError('E_CHANGESET_FILE', `A path must be a text with 1 to ${LONGEST_NAME} characters.`);
}
