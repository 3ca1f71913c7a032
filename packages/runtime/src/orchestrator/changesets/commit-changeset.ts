/**
 * Commits a changeset, alone on the road of reloads. Everything is checked again, because time has passed since the review:
 * a person was asked, and files or the plan may have changed.
 *
 * Invariants:
 * 1. No code of the changeset runs before the approval is found, and none outside of a trial before its files are in place.
 * 2. The approval is the orchestrator's own record of the answer to a question with exactly this diff.
 * 3. Files and plan change together, or not at all.
 */
import { GoondanError, type ChangesetCommitResult } from '@goondan/types';
import { checkSwarmPlan } from '../../config/check-swarm-plan.ts';
import type { ReloadResult } from '../../control/reload-result.ts';
import { defined } from '../../json/defined.ts';
import type { ChangesetRecord } from '../../workspace/changesets/changeset-record.ts';
import type { ChangesetOwner, Changesets } from '../../workspace/changesets/changesets.ts';
import type { CurrentPlan } from '../plan/current-plan.ts';
import type { ChangeRoad } from '../reload/reload-swarm.ts';
import { type Approval, checkCommit, endOf, type FindApproval, type WantedCommit } from './decide-commit.ts';
import { type ChangesetSource, type ExaminedChangeset, examineChangeset } from './examine-changeset.ts';
import { Rejection } from './rejection.ts';

export interface CommitDeps extends ChangesetSource {
  readonly currentPlan: Pick<CurrentPlan, 'value'>;
}

export interface CommitRequest extends WantedCommit {
  readonly changesetId: string;
  readonly owner: ChangesetOwner;
  readonly findApproval: FindApproval;
}

/** A commit that has ended well. */
export interface EndedCommit {
  readonly outcome: ChangesetCommitResult;
  /** The record of the changeset, if this request committed it; absent if it was committed before. */
  readonly record?: ChangesetRecord;
}

/** **Errors** — `Rejection`, those of the store and of the road. Nothing has changed then. */
export async function commitChangeset(
  deps: CommitDeps,
  request: CommitRequest,
  road: ChangeRoad,
): Promise<EndedCommit> {
  const { store, currentPlan } = deps;
  const { changesetId, owner, findApproval } = request;
  const ended = endOf(await store.get(changesetId, owner));
  if (ended !== undefined) return { outcome: ended };
  return withTrialFolder(store, async (folder) => {
    const examined = await examineChangeset(deps, currentPlan, changesetId, folder);
    const approval = checkCommit(request, examined.toApprove, examined.needsApproval, findApproval);
    const record = await replace(deps, examined, { ...approval, agent: owner.agent }, road);
    const outcome = endOf(record);
    if (outcome === undefined) throw new Error(`Changeset ${changesetId} is still open after its commit.`);
    return { outcome, record };
  });
}

/** Runs `work` with an empty folder, which is removed in any case. The message of an error names files as in the bundle. */
export async function withTrialFolder<Value>(
  store: Changesets,
  work: (path: string) => Promise<Value>,
): Promise<Value> {
  const trial = await store.makeTrialFolder();
  try {
    return await work(trial.path);
  } catch (error) {
    throw nameBundleFiles(error, trial.path, store.bundleFolder);
  } finally {
    await trial.remove();
  }
}

/** Replaces paths of the trial folder, which is gone by the time at which somebody reads the error. */
function nameBundleFiles(error: unknown, folder: string, bundleFolder: string): unknown {
  if (!GoondanError.is(error)) return error;
  const { code, message, suggestion, place } = error;
  // The copy has the path of the bundle below the trial folder.
  const inBundle = (text: string) => text.replaceAll(`${folder}${bundleFolder}/`, '').replaceAll(folder, '');
  if (place === undefined && inBundle(message) === message) return error;
  const named = new GoondanError(code, inBundle(message), { suggestion, cause: error });
  return place === undefined ? named : Object.assign(named, { place: { ...place, file: inBundle(place.file) } });
}

async function replace(
  { store, deploy }: CommitDeps,
  { edits, candidate, toApprove }: ExaminedChangeset,
  { by, via, agent }: Approval & { readonly agent: string },
  road: ChangeRoad,
): Promise<ChangesetRecord> {
  const { changesetId, digest } = toApprove;
  const { baseRef, newRef, addedTools } = candidate;
  const commit = { digest, baseRef, newRef, addedTools, ...defined({ by, via }) };
  const records: ChangesetRecord[] = [];
  await road.make({
    wanted: checkSwarmPlan(candidate.wanted),
    onTrial: checkSwarmPlan(candidate.onTrial),
    withFiles: async (apply) => {
      const results: ReloadResult[] = [];
      const applyAll = async () => {
        const result = deploy === undefined ? await apply() : await deploy(by ?? `agent ${agent}`, apply);
        if (result === undefined) throw new Rejection('conflict', 'Another bundle was deployed meanwhile.');
        results.push(result);
      };
      records.push(await store.apply(changesetId, edits, commit, applyAll));
      const [result] = results;
      if (result === undefined) throw new Error(`Changeset ${changesetId} was committed by another process.`);
      return result;
    },
  });
  return records[0] ?? store.get(changesetId);
}
