/**
 * Examines a changeset before any of its code runs: copies the bundle, puts the edits into the copy, reads it, and judges
 * the difference.
 */
import { realpathSync } from 'node:fs';
import { GoondanError } from '@goondan/types';
import type { Candidate, Examination, ExaminationRequest } from '../../examination.ts';
import type { SwarmPlan } from '../../swarm-plan.ts';
import type { Environment } from '../../variable-name.ts';
import type { Bundle } from '../bundle.ts';
import type { BundleProblem } from '../bundle-problem.ts';
import { resourcesOf } from '../find-resource.ts';
import { loadBundle } from '../load-bundle.ts';
import { type ResolveOptions, resolveSwarm } from '../resolve/resolve-swarm.ts';
import { type BundleCopy, copyBundle, digestFiles, filesAfter, findObstacle, writeEdits } from './copy-bundle.ts';
import { judgeChange } from './judge-change.ts';
import { type JudgedChange, newNames } from './judged-change.ts';
import { judgePaths } from './judge-paths.ts';
import { findOldExtensions, listOldExtensions } from './old-extensions.ts';
import { findOwnParts } from './own-parts.ts';
import { rebasePlan } from './rebase-plan.ts';
import { findUsedFiles } from './used-files.ts';

/** The bundle of a swarm, and how the swarm was started from it. */
export interface ExaminedBundle extends Pick<ResolveOptions, 'swarm' | 'workdir' | 'connections'> {
  readonly bundleFolder: string;
  readonly environment: Environment;
  /** The folder with the state of swarms. If it is inside the bundle, it is not copied. */
  readonly stateRoot?: string;
}

/**
 * Examines a changeset. A rejected one has a reason: `policy_violation`, `invalid_files` with the places of the errors, or
 * `conflict` if the bundle itself cannot be read as it is.
 *
 * **Errors** — `E_CHANGESET_LIMIT`, `E_BUNDLE_MISSING`.
 */
export async function examineChangeset(source: ExaminedBundle, request: ExaminationRequest): Promise<Examination> {
  const forbidden = [...judgePaths(request)];
  if (forbidden.length > 0) return violation(forbidden);
  const { environment, stateRoot, bundleFolder } = source;
  const bundle = await loadBundle(bundleFolder, { environment });
  if (!bundle.valid) return conflict(listProblems(bundle.errors));
  const present = resolvePresent(bundle, source);
  if ('status' in present) return present;
  const leaveOut = stateRoot === undefined ? [] : [realPath(stateRoot)];
  const copy = await copyBundle({ bundleFolder: bundle.folder, trialFolder: request.trialFolder, leaveOut });
  const obstacles = findObstacles(copy, request);
  if (obstacles.length > 0) return violation(obstacles);
  writeEdits(copy.folder, request.edits);
  const changed = await loadBundle(copy.folder, { environment });
  if (!changed.valid) return invalid(listProblems(changed.errors, copy));
  // A part of the changed bundle that was not checked cannot be judged.
  const unchecked = changed.warnings.filter(({ code }) => code === 'E_BUNDLE_LIMIT');
  if (unchecked.length > 0) return invalid(listProblems(unchecked, copy));
  try {
    return judge(source, request, { bundle, present, changed, copy });
  } catch (error) {
    if (!GoondanError.is(error)) throw error;
    return invalid([withoutTrialPath(error.message, copy)]);
  }
}

/** Returns the plan of the running swarm in the bundle as it is, or the reason why there is none. */
function resolvePresent(bundle: Bundle, source: ExaminedBundle): SwarmPlan | Examination {
  try {
    return resolveSwarm(bundle, source).plan;
  } catch (error) {
    if (!GoondanError.is(error)) throw error;
    return conflict([error.message]);
  }
}

interface Examined {
  readonly bundle: Bundle;
  readonly present: SwarmPlan;
  readonly changed: Bundle;
  readonly copy: BundleCopy;
}

function judge(
  source: ExaminedBundle,
  { edits, allow, ...earlier }: ExaminationRequest,
  { bundle, present, changed, copy }: Examined,
): Examination {
  const toBundle = (plan: SwarmPlan) => rebasePlan(plan, copy.root, bundle.packages);
  const filesNow = filesAfter(copy.files, edits);
  const own = findOwnParts(earlier, bundle, copy);
  const change: JudgedChange = {
    edits,
    allow,
    ...own,
    swarm: present.name,
    before: { resources: bundle.scope.resources, plans: plansOf(bundle, source), files: new Set(copy.files.keys()) },
    after: {
      resources: changed.scope.resources,
      plans: new Map([...plansOf(changed, source)].map(([name, plan]) => [name, toBundle(plan)])),
      files: new Set(filesNow.keys()),
    },
    used: findUsedFiles(bundle, copy, own.addedTools),
    oldStyle: listOldExtensions(changed),
    besideOld: findOldExtensions(bundle),
  };
  const violations = judgeChange(change);
  if (violations.length > 0) return violation(violations);
  const { plan: onTrial } = resolveSwarm(changed, source);
  const wanted = toBundle(onTrial);
  const candidate: Candidate = {
    present,
    wanted,
    onTrial,
    baseRef: digestFiles(copy.files),
    newRef: digestFiles(filesNow),
    addedTools: newNames(change, 'Tool'),
  };
  return { status: 'fits', candidate };
}

/** Resolves every swarm of a bundle, because a changeset must not harm those that do not run either. */
function plansOf(bundle: Bundle, { environment, workdir }: ExaminedBundle): Map<string, SwarmPlan> {
  const options = { environment, mayMiss: true, ...(workdir === undefined ? {} : { workdir }) };
  return new Map(
    resourcesOf(bundle.scope, 'Swarm').map(({ name }) => [
      name,
      resolveSwarm(bundle, { ...options, swarm: name }).plan,
    ]),
  );
}

function findObstacles(copy: BundleCopy, { edits }: ExaminationRequest): string[] {
  return edits.flatMap(({ path }) => {
    const obstacle = findObstacle(copy.folder, path);
    return obstacle === undefined ? [] : [`${path} ${obstacle}, so no changeset may change it.`];
  });
}

function listProblems(problems: readonly BundleProblem[], copy?: BundleCopy): string[] {
  return problems.map(({ file, line, column, message }) =>
    withoutTrialPath(`${file}:${line}:${column} ${message}`, copy),
  );
}

/** Replaces paths of the copy by those of the bundle, because the copy is removed. */
function withoutTrialPath(text: string, copy?: BundleCopy): string {
  return copy === undefined ? text : text.replaceAll(`${copy.folder}/`, '').replaceAll(copy.root, '');
}

function violation(violations: string[]): Examination {
  const [first = ''] = violations;
  const others = violations.length - 1;
  const more =
    others === 0 ? '' : others === 1 ? ' There is 1 more violation.' : ` There are ${others} more violations.`;
  return { status: 'rejected', reason: 'policy_violation', message: `${first}${more}`, violations };
}

function invalid(problems: string[]): Examination {
  const count = problems.length === 1 ? 'an error:' : `${problems.length} errors. The first:`;
  const message = `The changed bundle has ${count} ${problems[0] ?? ''}`;
  return { status: 'rejected', reason: 'invalid_files', message, violations: problems };
}

function conflict(problems: string[]): Examination {
  const message =
    'The bundle has errors that the changeset did not make. Somebody is probably editing it; try again when it is valid.';
  return { status: 'rejected', reason: 'conflict', message, violations: problems };
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
