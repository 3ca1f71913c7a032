/** Finds the tools and the files that still belong to agents: changesets added them, and no person has taken them over. */
import { posix } from 'node:path';
import type { ExaminationRequest } from '../../examination.ts';
import type { Bundle } from '../bundle.ts';
import { resourcesOf } from '../find-resource.ts';
import type { BundleCopy } from './copy-bundle.ts';
import type { JudgedChange } from './judged-change.ts';

/**
 * A file belongs to agents as long as it is as the last commit left it. A tool belongs to agents as long as its entry does
 * and each export has external effects: a person who writes other effects trusts the code as it is now.
 */
export function findOwnParts(
  { addedTools, addedFiles }: Pick<ExaminationRequest, 'addedTools' | 'addedFiles'>,
  { scope }: Pick<Bundle, 'scope'>,
  { files }: Pick<BundleCopy, 'files'>,
): Pick<JudgedChange, 'addedTools' | 'addedFiles'> {
  const ownFiles = addedFiles.filter(({ path, digest }) => files.get(path) === digest).map(({ path }) => path);
  const ownTools = resourcesOf(scope, 'Tool').filter(({ name, resource: { spec } }) => {
    const hasEffects = spec.exports?.every(({ effects = 'external' }) => effects === 'external') ?? false;
    return addedTools.includes(name) && hasEffects && ownFiles.includes(posix.normalize(spec.entry));
  });
  return { addedTools: ownTools.map(({ name }) => name), addedFiles: ownFiles };
}
