/**
 * Makes a bundle from its documents: opens the scopes, checks all of them, and lists all problems in the order of the
 * files.
 */
import type { ErrorCode } from '@goondan/types';
import { defined } from '../../json/defined.ts';
import type { Bundle } from './bundle.ts';
import { errorAt, type BundleProblem, type Finding } from './bundle-problem.ts';
import { checkScopes, MOST_PROBLEMS } from './check/check-scopes.ts';
import { hashLockFiles } from './files/hash-lock-files.ts';
import { findPreload } from './files/find-preload.ts';
import { readEnvironmentFile } from './files/read-environment-file.ts';
import type { readFolder } from './files/read-folder.ts';
import { openScopes } from './open-scope.ts';
import type { Environment } from '../variable-name.ts';

/** `folder` is a real path. */
export async function readBundle(
  source: { readonly folder: string } & Awaited<ReturnType<typeof readFolder>>,
  environment: Environment,
): Promise<Bundle> {
  const { folder, documents } = source;
  const { values, findings: aboutEnvironment } = await readEnvironmentFile(folder);
  const opened = await openScopes(folder, documents);
  const whole = await checkScopes(opened.scopes, environment, values);
  // Without exact places, an echo looks like any other problem of its resource. Then it is better to report both.
  const inexact = new Set(documents.flatMap(({ file, hasOnePlace }) => (hasOnePlace ? [file] : [])));
  const rejected = [...source.findings, ...opened.findings].filter(({ problem }) => !inexact.has(problem.file));
  const findings = [
    ...source.findings,
    ...aboutEnvironment,
    ...(await findPreload(folder)),
    ...withoutEchoes(rejected, 'E_YAML_SYNTAX', opened.findings),
    ...withoutEchoes(rejected, 'E_RESOURCE_INVALID', whole),
  ];
  const [scope] = opened.scopes;
  if (scope === undefined) throw new Error('A bundle has at least its own folder.');
  const errors = listProblems(findings, 'error');
  return defined({
    folder,
    resources: opened.scopes.flatMap(({ resources }) => resources),
    errors,
    warnings: listProblems(findings, 'warning'),
    valid: errors.length === 0,
    scope,
    environmentFile: values,
    packages: hashLockFiles(folder),
  });
}

/**
 * Leaves out findings at the place of a value that an earlier check rejected with this code. Later checks see the
 * document without that value, and would report it again as wrong or missing.
 */
function withoutEchoes(earlier: readonly Finding[], rejected: ErrorCode, later: readonly Finding[]): Finding[] {
  const codes: readonly string[] = [rejected, 'E_YAML_SYNTAX'];
  const places = new Set(earlier.flatMap(({ problem }) => (codes.includes(problem.code) ? [placeText(problem)] : [])));
  return later.filter(({ problem }) => codes.includes(problem.code) || !places.has(placeText(problem)));
}

function placeText({ file, line, column }: BundleProblem): string {
  return `${file}:${line}:${column}`;
}

/** Sorts problems by file, line and column, with `goondan.yaml` first, and removes duplicates. */
function listProblems(findings: readonly Finding[], severity: Finding['severity']): BundleProblem[] {
  const unique = new Map<string, BundleProblem>();
  for (const { severity: own, problem } of findings) {
    if (own === severity) unique.set(`${placeText(problem)} ${problem.code} ${problem.message}`, problem);
  }
  const sorted = [...unique.values()].toSorted(
    (one, other) => compareFiles(one.file, other.file) || one.line - other.line || one.column - other.column,
  );
  const next = sorted[MOST_PROBLEMS];
  if (next === undefined) return sorted;
  const message = `Only the first ${MOST_PROBLEMS} problems are listed; there are more, from this place on.`;
  return [...sorted.slice(0, MOST_PROBLEMS), errorAt(next, 'E_BUNDLE_LIMIT', message).problem];
}

function compareFiles(one: string, other: string): number {
  if (one === other) return 0;
  if (one === 'goondan.yaml' || other === 'goondan.yaml') return one === 'goondan.yaml' ? -1 : 1;
  return one < other ? -1 : 1;
}
