/** Checks that every reference leads to a declared resource of the expected kind. */
import { showJson } from '../../../json/show-json.ts';
import { providerVariables } from '../../provider-variables.ts';
import { closestName, listNames, suggestName } from '../../closest-name.ts';
import { resourceNamePattern } from '../../resource-name.ts';
import type { Scope } from '../bundle.ts';
import { errorIn, type Finding } from '../bundle-problem.ts';
import { packageNamePattern } from '../files/find-package.ts';
import { BASE_LIBRARY } from '../base-library.ts';
import { findResource, mayDeclare, packageOf } from '../find-resource.ts';
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
  if (kind === 'Model' && closestName(before, resourceKinds) !== 'Model') return malformedModel(shown);
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

/** A model is named by its provider, unless the provider needs an address. */
function malformedModel(shown: string): ReturnType<typeof findProblem> {
  const [provider = '', ...rest] = shown.split('/');
  const isUrl = shown.includes('://');
  const model = (isUrl ? '' : rest.join('/')) || 'MODEL';
  const endpoint = isUrl ? shown : 'http://localhost:11434/v1';
  const compatible = `{ provider: openai-compatible, model: ${model}, endpoint: ${endpoint} }`;
  const hosted = Object.keys(providerVariables);
  const meant = closestName(provider, [...hosted, 'openai-compatible']);
  const code = 'E_REF_INVALID';
  if (isUrl || meant === 'openai-compatible') {
    const message = `${showJson(shown)} lacks the ${isUrl ? 'name of the model' : 'URL of the server'}.`;
    return { code, message, suggestion: `Write \`model: ${compatible}\`.` };
  }
  if (meant === provider) {
    return {
      code,
      message: `${showJson(shown)} lacks the name of the model.`,
      suggestion: `Write \`${meant}/MODEL\`.`,
    };
  }
  if (meant !== undefined && rest.length > 0) {
    return {
      code,
      message: `There is no provider ${showJson(provider)}.`,
      suggestion: `Did you mean \`${meant}/${model}\`?`,
    };
  }
  if (rest.length === 0) {
    const name = provider || 'name';
    const suggestion = `Write its provider before it, such as \`anthropic/${name}\`, or \`Model/${name}\` for a resource.`;
    return { code, message: `${showJson(shown)} names no provider.`, suggestion };
  }
  const suggestion = `Use one of: ${listNames(hosted)}. For another server, write \`model: ${compatible}\`.`;
  return { code, message: `There is no provider ${showJson(provider)}.`, suggestion };
}

function findMissing(
  scope: Scope,
  kind: string,
  reference: Exclude<WrittenReference, string>,
): ReturnType<typeof findProblem> {
  const { name, package: from } = reference;
  const home = from === undefined ? scope : scope.packages.get(from);
  // The check of packages reports a missing package.
  if (home === undefined) return undefined;
  const identity = `${kind}/${name}`;
  if (home.declared.has(identity) || mayDeclare(home, kind, name)) return undefined;
  const base = from === undefined && packageOf(scope, reference) === BASE_LIBRARY && scope.packages.get(BASE_LIBRARY);
  if (base) return missingInBoth(scope, base, kind, name);
  return {
    code: 'E_REF_MISSING',
    message: from === undefined ? `There is no ${identity}.` : `The package "${from}" has no ${identity}.`,
    suggestion: suggestIn(home, kind, name),
  };
}

/** Reports a resource that neither the scope nor the base library has, with the names that both have. */
function missingInBoth(scope: Scope, base: Scope, kind: string, name: string): ReturnType<typeof findProblem> {
  const here = scope.package === undefined ? 'This bundle' : `The package "${scope.package}"`;
  const [own, ready] = [namesIn(scope, kind), readyNames(base, kind)];
  const meant = closestName(name, [...own, ...ready]);
  const origin = meant === undefined || own.includes(meant) ? '' : ` of ${BASE_LIBRARY}`;
  const question = meant === undefined ? '' : `Did you mean \`${kind}/${meant}\`${origin}? `;
  const withKind = (names: readonly string[]) => listNames(names.map((each) => `${kind}/${each}`));
  const ownNames = own.length === 0 ? `no ${kind}` : withKind(own);
  return {
    code: 'E_REF_MISSING',
    message: `There is no ${kind}/${name}, neither in ${lowerFirst(here)} nor in ${BASE_LIBRARY}.`,
    suggestion: `${question}${here} has ${ownNames}. ${BASE_LIBRARY} has ${withKind(ready)}.`,
  };
}

/** Returns the names of the base library, with the tools of the runtime, which belong to the library for authors. */
function readyNames(base: Scope, kind: string): string[] {
  const names = namesIn(base, kind);
  return meansAgentTools(base, `${kind}/agents`) ? ['agents', ...names] : names;
}

function suggestIn(home: Scope, kind: string, name: string): string | undefined {
  const known = namesIn(home, kind);
  const meant = closestName(name, known);
  return suggestName(
    meant === undefined ? undefined : `${kind}/${meant}`,
    known.map((each) => `${kind}/${each}`),
  );
}

function namesIn({ declared }: Scope, kind: string): string[] {
  return [...declared].flatMap((identity) =>
    identity.startsWith(`${kind}/`) ? [identity.slice(kind.length + 1)] : [],
  );
}

function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

function withArticle(kind: string): string {
  return `${/^[AE]/.test(kind) ? 'an' : 'a'} ${kind}`;
}
