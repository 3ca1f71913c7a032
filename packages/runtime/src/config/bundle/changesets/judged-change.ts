/** A changeset with the bundle before and after it, as the judge sees it. All paths are those of the bundle itself. */
import type { RecordedEdit } from '../../../workspace/changesets/changeset-record.ts';
import type { ExaminationRequest } from '../../examination.ts';
import type { SwarmPlan } from '../../swarm-plan.ts';
import type { LoadedResource } from '../bundle.ts';
import type { UsedFiles } from './used-files.ts';

export interface JudgedChange extends Pick<ExaminationRequest, 'allow'> {
  /** Names of the Tool resources that changesets added, and whose code they may change. */
  readonly addedTools: readonly string[];
  /** Paths of the files that changesets created, and that no person has edited since. */
  readonly addedFiles: readonly string[];
  readonly edits: readonly RecordedEdit[];
  /** The name of the swarm that runs. Only its agents may change. */
  readonly swarm: string;
  readonly before: BundleState;
  readonly after: BundleState;
  readonly used: UsedFiles;
  /** Names of the changed bundle's extensions for v0.10. */
  readonly oldStyle: readonly string[];
  /** An existing extension for v0.10 by agent, for each agent that has one in any swarm. Both are written as `Kind/name`. */
  readonly besideOld: ReadonlyMap<string, string>;
}

export interface BundleState {
  /** The bundle's own resources. */
  readonly resources: readonly LoadedResource[];
  /** The plans of all swarms by name. */
  readonly plans: ReadonlyMap<string, SwarmPlan>;
  /** The paths of all files. */
  readonly files: ReadonlySet<string>;
}

/** Returns true for a file that this or an earlier changeset creates. A link or a folder is never one. */
export function isOfChangeset(path: string, { edits, before, addedFiles }: JudgedChange): boolean {
  return addedFiles.includes(path) || (!before.files.has(path) && edits.some((edit) => edit.path === path));
}

/** Lists the names of the resources of a kind that the changeset adds. */
export function newNames({ before, after }: JudgedChange, kind: 'Tool' | 'Extension'): string[] {
  const known = new Set(before.resources.map(({ identity }) => identity));
  return after.resources.flatMap((loaded) =>
    loaded.kind === kind && !known.has(loaded.identity) ? [loaded.name] : [],
  );
}
