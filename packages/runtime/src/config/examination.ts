/** The result of the check of a changeset, before any of its code runs. */
import type { ChangesetCommitResult } from '@goondan/types';
import type { FileEdit } from '../workspace/changesets/changeset-record.ts';
import type { SwarmPlan } from './swarm-plan.ts';

export interface ExaminationRequest {
  readonly edits: readonly FileEdit[];
  /** An empty folder for a copy of the bundle with the edits. The caller removes it. */
  readonly trialFolder: string;
  /** `Swarm.spec.policy.changes.allow` of the plan in force. */
  readonly allow: readonly string[];
  /** Names of the Tool resources that earlier changesets added. */
  readonly addedTools: readonly string[];
  /**
   * The files that earlier changesets created, as the last commit left them. Only such files and new ones may hold the
   * code of a tool: an existing file may be used by code that no scan of imports shows.
   */
  readonly addedFiles: readonly AddedFile[];
}

export interface AddedFile {
  readonly path: string;
  /** SHA-256 of the content that a changeset wrote last. A file with another content was edited by a person. */
  readonly digest: string;
}

export type Examination =
  | { readonly status: 'fits'; readonly candidate: Candidate }
  | Omit<Extract<ChangesetCommitResult, { readonly status: 'rejected' }>, 'changesetId'>;

/** A changed bundle that is valid and permitted. */
export interface Candidate {
  /** The plan that the bundle has now. It must be the plan in force; otherwise the bundle was edited and not reloaded. */
  readonly present: SwarmPlan;
  /** The plan of the changed bundle, with the paths of the bundle's own folder. */
  readonly wanted: SwarmPlan;
  /** The same plan with the paths of `trialFolder`, for processes on trial. */
  readonly onTrial: SwarmPlan;
  /** Digests of the bundle's files, without and with the edits. */
  readonly baseRef: string;
  readonly newRef: string;
  readonly addedTools: readonly string[];
}

/** Examines a changeset of the bundle from which a swarm was started. */
export type Examine = (request: ExaminationRequest) => Promise<Examination>;

/** The bundle of a running swarm. */
export interface BundleSource {
  /** Reads the plan again. **Errors** — `E_RELOAD_SWARM`, those of `readFolderPlan`. */
  readPlan(): Promise<SwarmPlan>;
  /** Examines a changeset of the bundle. */
  readonly examine: Examine;
}
