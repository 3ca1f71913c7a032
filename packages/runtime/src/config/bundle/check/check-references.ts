/** Checks that every reference leads to a declared resource of the expected kind. */
import { showJson } from '../../../json/show-json.ts';
import { closestName, suggestName } from '../../closest-name.ts';
import { resourceNamePattern } from '../../resource-name.ts';
import type { Scope } from '../bundle.ts';
import { errorIn, type Finding } from '../bundle-problem.ts';
import { packageNamePattern } from '../files/find-package.ts';
import { findResource, mayDeclare } from '../find-resource.ts';
import type { Issue } from '../kinds/describe-issues.ts';
import type { WrittenReference } from '../kinds/fields.ts';
import { isResourceKind, resourceKinds } from '../kinds/parse-resource.ts';
import { listReferring, parseReference, type ReferenceUse } from '../references.ts';
import { meansAgentTools } from '../agent-tools.ts';

export function* checkReferences(scope: Scope): Generator<Finding> {
  for (const referring of listReferring(scope)) {
    for (const use of referring.references) {
      const problem = findProblem(scope, use);
      if (problem === undefined) continue;
      const path = typeof use.written === 'string' ? use.path : [...use.path, 'name'];
      yield errorIn(referring, path, problem.code, problem.message, problem.suggestion);
    }
  }
}

function findProblem(
  scope: Scope,
  { written, kind }: ReferenceUse,
): Pick<Issue, 'code' | 'message' | 'suggestion'> | undefined {
  const reference = parseReference(written);
  if (reference === undefined || !isResourceKind(reference.kind)) return malformed(written, kind);
  if (reference.package !== undefined && !packageNamePattern.test(reference.package)) {
    return { code: 'E_REF_INVALID', message: `"${reference.package}" is not the name of an npm package.` };
  }
  if (reference.kind !== kind) {
    const message = `This field needs ${withArticle(kind)}, not ${withArticle(reference.kind)}.`;
    return { code: 'E_REF_KIND', message, suggestion: suggestIn(scope, kind, reference.name) };
  }
  if (findResource(scope, kind, written) !== undefined || meansAgentTools(scope, written)) return undefined;
  return findMissing(scope, kind, reference);
}

function malformed(written: WrittenReference, kind: string): ReturnType<typeof findProblem> {
  const shown = typeof written === 'string' ? written : `${written.kind}/${written.name}`;
  const [before = '', after = ''] = shown.split('/');
  const likely =
    after === '' ? { kind, name: before } : { kind: closestName(before, resourceKinds) ?? kind, name: after };
  const name = resourceNamePattern.test(likely.name) ? likely.name : 'name';
  const ofPackage = shown.includes('@') ? `, and of a package \`{ kind: ${likely.kind}, name: …, package: … }\`` : '';
  return {
    code: 'E_REF_INVALID',
    message: `${showJson(shown)} is not a reference.`,
    suggestion: `Write \`Kind/name\`, for example \`${likely.kind}/${name}\`${ofPackage}.`,
  };
}

function findMissing(
  scope: Scope,
  kind: string,
  { name, package: from }: Exclude<WrittenReference, string>,
): ReturnType<typeof findProblem> {
  const home = from === undefined ? scope : scope.packages.get(from);
  // The check of packages reports a missing package.
  if (home === undefined) return undefined;
  const identity = `${kind}/${name}`;
  if (home.declared.has(identity) || mayDeclare(home, kind, name)) return undefined;
  return {
    code: 'E_REF_MISSING',
    message: from === undefined ? `There is no ${identity}.` : `The package "${from}" has no ${identity}.`,
    suggestion: suggestIn(home, kind, name),
  };
}

function suggestIn(home: Scope, kind: string, name: string): string | undefined {
  const names = [...home.declared].filter((identity) => identity.startsWith(`${kind}/`));
  const known = names.map((identity) => identity.slice(kind.length + 1));
  const meant = closestName(name, known);
  return suggestName(meant === undefined ? undefined : `${kind}/${meant}`, names);
}

function withArticle(kind: string): string {
  return `${/^[AE]/.test(kind) ? 'an' : 'a'} ${kind}`;
}
