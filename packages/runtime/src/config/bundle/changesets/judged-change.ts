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
  readonly before: BundleState;
  readonly after: BundleState;
  readonly used: UsedFiles;
  /**
   * Names of extensions of the changed bundle whose code uses `@goondan/v010`. Their functions are sorted by priority among
   * those of all such extensions, so their place in the list decides nothing.
   */
  readonly oldStyle: readonly string[];
}

export interface BundleState {
  /** The bundle's own resources. */
  readonly resources: readonly LoadedResource[];
  /** The plans of all swarms by name. */
  readonly plans: ReadonlyMap<string, SwarmPlan>;
  /** The paths of all files. */
  readonly files: ReadonlySet<string>;
}

/** Lists the names of the resources of a kind that the changeset adds. */
export function newNames({ before, after }: JudgedChange, kind: 'Tool' | 'Extension'): string[] {
  const known = new Set(before.resources.map(({ identity }) => identity));
  return after.resources.flatMap((loaded) =>
    loaded.kind === kind && !known.has(loaded.identity) ? [loaded.name] : [],
  );
}
