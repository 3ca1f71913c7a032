/**
 * Decides whether a changeset keeps to the few differences that agents may make. It is a list of permitted differences on
 * three levels: files, resources and resolved plans. Everything that is not permitted is a violation, whatever
 * `policy.changes.allow` says.
 */
import type { JudgedChange } from './judged-change.ts';
import { judgeFiles } from './judge-files.ts';
import { judgePlans } from './judge-plans.ts';
import { judgeResources } from './judge-resources.ts';

/**
 * Lists the violations, each as one sentence. The changeset is permitted if there are none. Most differences of plans follow
 * from a file or a resource; such a difference is listed only if no file and no resource explains it.
 */
export function judgeChange(change: JudgedChange): string[] {
  const causes = new Set([...judgeFiles(change), ...judgeResources(change)]);
  return [...(causes.size > 0 ? causes : new Set(judgePlans(change)))];
}
