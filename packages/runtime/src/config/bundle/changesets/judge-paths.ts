import { findPathProblem } from '../../../workspace/changesets/find-path-problem.ts';
import { BUNDLE_FILE } from '../files/read-folder.ts';
import type { ExaminationRequest } from '../../examination.ts';

/** Lists the edits that are forbidden by their path alone, before anything is written anywhere. */
export function* judgePaths({ edits, allow }: Pick<ExaminationRequest, 'edits' | 'allow'>): Generator<string> {
  const globs = allow.map((pattern) => new Bun.Glob(pattern));
  for (const { path, after } of edits) {
    const problem = findPathProblem(path);
    if (problem !== undefined) yield `${JSON.stringify(path)} ${problem}, so no changeset may change it.`;
    else if (isHidden(path)) yield `${path} has a hidden part, so no changeset may change it.`;
    else if (!globs.some((glob) => glob.match(path))) yield notAllowed(path, allow);
    else if (path === BUNDLE_FILE && after === null) yield `${path} cannot be deleted.`;
  }
}

function notAllowed(path: string, allow: readonly string[]): string {
  const allowed = allow.length === 0 ? 'allows no files' : `allows only ${allow.join(', ')}`;
  return `${path} may not be changed: spec.policy.changes of the swarm ${allowed}.`;
}

/** Hidden files configure other programs. The conventional folders of skills are the exception. */
function isHidden(path: string): boolean {
  return /(?:^|\/)\./.test(path.replace(/^\.(?:agents|goondan|claude)\/skills\//, ''));
}
