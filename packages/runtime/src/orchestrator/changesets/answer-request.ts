/** Answers the requests of agents about changesets, and reports the fate of each commit (L-05). */
import {
  type AgentAddress,
  type ChangesetCommitResult,
  GoondanError,
  type JsonObject,
  type OpenedChangeset,
  placeText,
} from '@goondan/types';
import type { ChangesetAnswers } from '../../ipc/changeset-answers.ts';
import { toFrameError } from '../../ipc/check/frame-error.ts';
import type { ChangesetRequest } from '../../ipc/from-agent.ts';
import { withoutPlace } from '../../ipc/without-place.ts';
import { defined } from '../../json/defined.ts';
import type { Clock } from '../../ports/clock.ts';
import { nameDoor } from '../../trace/name-answer.ts';
import type { ChangesetRecord } from '../../workspace/changesets/changeset-record.ts';
import type { ChangesetOwner } from '../../workspace/changesets/changesets.ts';
import { UnwritableFile } from '../../workspace/changesets/move-files.ts';
import type { Questions } from '../questions/questions.ts';
import { turnOf } from '../instances/swarm-listener.ts';
import type { ChangeRoad, SwarmReloader } from '../reload/reload-swarm.ts';
import { describeProblem } from '../supervision/describe-problem.ts';
import type { SwarmAgents } from '../swarm/swarm-agents.ts';
import type { AskedRequest } from './changeset-requests.ts';
import { type CommitDeps, commitChangeset, withTrialFolder } from './commit-changeset.ts';
import { endOf } from './decide-commit.ts';
import { examineChangeset } from './examine-changeset.ts';
import { Rejection } from './rejection.ts';
import { reportRecoveries } from './report-recoveries.ts';

export interface AnswerDeps extends CommitDeps {
  readonly reloader: Pick<SwarmReloader, 'onRoad'>;
  readonly questions: Pick<Questions, 'findApproval'>;
  readonly report: SwarmAgents['report'];
  readonly clock: Clock;
}

/**
 * Answers one request. **Errors** — `E_CHANGESET_UNKNOWN`, `E_CHANGESET_FILE`, `E_CHANGESET_LIMIT`; those of the disk, except
 * for a commit, which has an outcome.
 */
export async function answerRequest(
  deps: AnswerDeps,
  { at, request, during, signal }: AskedRequest,
): Promise<ChangesetAnswers[ChangesetRequest['kind']]> {
  const { store } = deps;
  const owner = { swarm: deps.currentPlan.value.plan.name, agent: at.agentName, instanceKey: at.instanceKey };
  if (request.kind === 'open') {
    const { allow } = deps.currentPlan.value.settings.changes;
    if (allow.length === 0) {
      throw new GoondanError('E_CHANGESET_POLICY', `Swarm "${owner.swarm}" does not let its agents change files.`);
    }
    const { id: changesetId, expiresAt } = await store.open(owner, ({ id }) => {
      const message = `Changeset ${id} of agent "${at.agentName}" was deleted, because the agent opened another one and had too many.`;
      deps.report('warn', 'changeset.deleted', message, turnOf(at, during.id, during.traceId), { changesetId: id });
    });
    const opened: OpenedChangeset = { changesetId, expiresAt, allow: [...allow], files: [...(await store.files())] };
    return opened;
  }
  const { changesetId } = request;
  const { edits } = await store.get(changesetId, owner);
  const change: AskedChange = {
    at,
    owner,
    changesetId,
    files: edits.map(({ path }) => path),
    eventId: during.id,
    traceId: during.traceId,
  };
  switch (request.kind) {
    case 'read':
      return { content: await store.read(changesetId, request.path) };
    case 'write':
      await store.write(changesetId, request.path, request.content ?? null);
      return {};
    case 'review':
      return onRoad(deps, change, signal, () => review(deps, change));
    case 'commit':
      return onRoad(deps, change, signal, (road) => commit(deps, change, request, road));
  }
}

/** A changeset, and the turn that asks about it. */
interface AskedChange {
  readonly at: AgentAddress;
  readonly owner: ChangesetOwner;
  readonly changesetId: string;
  readonly files: readonly string[];
  readonly eventId: string;
  readonly traceId: string;
}

/** Waits for its turn on the road, so that the plan and the files stay the same. Turns errors into outcomes. */
function onRoad<Answer>(
  deps: AnswerDeps,
  change: AskedChange,
  signal: AbortSignal,
  work: (road: ChangeRoad) => Promise<Answer>,
): Promise<Answer | { readonly outcome: ChangesetCommitResult }> {
  return deps.reloader.onRoad(async (road) => {
    try {
      road.signal.throwIfAborted();
      reportRecoveries(await deps.store.recover({ waitMs: 0 }), deps.report);
      return await work(road);
    } catch (error) {
      return { outcome: await refuse(deps, change, error, road) };
    }
  }, signal);
}

async function review(deps: AnswerDeps, { changesetId, owner }: AskedChange): Promise<ChangesetAnswers['review']> {
  const record = await deps.store.get(changesetId, owner);
  const ended = endOf(record);
  if (ended !== undefined) return { outcome: ended };
  const { toApprove, needsApproval } = await withTrialFolder(deps.store, (folder) =>
    examineChangeset(deps, deps.currentPlan, changesetId, folder),
  );
  // At least a moment: the changeset may have expired during the examination.
  const expiresInMs = Math.max(1, Date.parse(record.expiresAt) - deps.clock.now().getTime());
  return { review: { needsApproval, toApprove, expiresInMs } };
}

async function commit(
  deps: AnswerDeps,
  change: AskedChange,
  { digest, approvalId }: Extract<ChangesetRequest, { readonly kind: 'commit' }>,
  road: ChangeRoad,
): Promise<ChangesetAnswers['commit']> {
  const { changesetId, owner, at } = change;
  const findApproval = (id: string, args: JsonObject) => deps.questions.findApproval(at, id, 'change', args);
  const wanted = { changesetId, owner, digest, findApproval, ...defined({ approvalId }) };
  const changeset = { id: changesetId, agent: at.agentName };
  const named: ChangeRoad = { ...road, make: (made) => road.make({ ...made, changeset }) };
  const { outcome, record } = await commitChangeset(deps, wanted, named);
  if (record !== undefined) reportCommit(deps, change, record);
  return { outcome };
}

function reportCommit({ report }: AnswerDeps, change: AskedChange, { commit: made, edits }: ChangesetRecord): void {
  const { at, changesetId } = change;
  const files = edits.map(({ path }) => path);
  const by = made?.by === undefined ? 'No approval was needed' : `Approved${nameDoor(made)}`;
  const message = `Agent "${at.agentName}" changed the bundle with changeset ${changesetId}: ${files.join(', ')}. ${by}.`;
  const data = defined({
    changesetId,
    agent: at.agentName,
    files,
    by: made?.by,
    via: made?.via,
    baseRef: made?.baseRef,
    newRef: made?.newRef,
  });
  report('info', 'changeset.committed', message, subjectOf(change), data);
}

/** Reports why a changeset was not committed, adds the reason to its notes, and returns the outcome. */
async function refuse(
  { report, store }: AnswerDeps,
  change: AskedChange,
  error: unknown,
  road: ChangeRoad,
): Promise<ChangesetCommitResult> {
  const { at, changesetId, files } = change;
  // The log has the reason even if the note cannot be written.
  const note = (text: string) => store.note(changesetId, text).catch(() => undefined);
  const about = { changesetId, agent: at.agentName, files: [...files] };
  const rejection = asRejection(error);
  if (rejection !== undefined) {
    const { reason, message, violations } = rejection;
    const all = [message, ...(violations ?? []).filter((each) => !message.includes(each))].join(' ');
    const text = `Changeset ${changesetId} of agent "${at.agentName}" was rejected (${reason}): ${all}`;
    report('warn', 'changeset.rejected', text, subjectOf(change), { ...about, reason });
    await note(`Rejected (${reason}): ${all}`);
    return {
      status: 'rejected',
      changesetId,
      reason,
      message,
      ...(violations === undefined ? {} : { violations: [...violations] }),
    };
  }
  const problem = toFrameError(error, 'E_UNEXPECTED');
  const text = `Changeset ${changesetId} of agent "${at.agentName}" was not committed. ${describeProblem(problem)}`;
  // A commit that was given up is not a failure that somebody has to look into.
  const isGivenUp = road.signal.aborted && error === road.signal.reason;
  report(isGivenUp ? 'info' : 'error', 'changeset.failed', text, subjectOf(change), { ...about, code: problem.code });
  if (!isGivenUp) {
    road.refused(problem, { id: changesetId, agent: at.agentName });
    await note(problem.message);
  }
  const { code, message } = error instanceof UnwritableFile ? problem : withoutPlace(problem);
  const { place } = problem;
  // An agent may know the place in a file that it wrote itself.
  const where = place !== undefined && files.includes(place.file) ? `${placeText(place)}: ` : '';
  return { status: 'error', changesetId, error: { code, message: `${where}${message}` } };
}

function asRejection(error: unknown): Rejection | undefined {
  if (error instanceof Rejection) return error;
  // The files were edited at the last moment.
  if (GoondanError.is(error) && error.code === 'E_CHANGESET_CONFLICT') return new Rejection('conflict', error.message);
  return undefined;
}

function subjectOf({ at, eventId, traceId }: AskedChange) {
  return turnOf(at, eventId, traceId);
}
