/** Opens a folder of resources: parses its documents, inspects their files, and opens the packages they refer to. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { ErrorCode } from '@goondan/types';
import type { LoadedResource, ReferringResource, Scope } from './bundle.ts';
import { errorIn, type Finding } from './bundle-problem.ts';
import { findBundlePackage, packageNamePattern } from './files/find-package.ts';
import { inspectBroken, inspectFiles } from './files/inspect-files.ts';
import { BUNDLE_FILE, readFolder } from './files/read-folder.ts';
import { openScanner, type Scanner } from './files/open-scanner.ts';
import { findLoneAgent, readIdentities, readIdentity } from './identity.ts';
import { impliedModel, impliedSwarm } from './implied-resources.ts';
import { kindOf, parseResource } from './kinds/parse-resource.ts';
import { isPlainObject } from '../../json/copy-json.ts';
import type { SourceDocument } from './place.ts';
import { meansAgentTools } from './agent-tools.ts';
import { packageOf } from './find-resource.ts';
import { findReferences, listReferring, parseReference, type ReferenceUse } from './references.ts';

/** The maximum number of packages that one bundle may use, directly and through other packages. */
const MOST_PACKAGES = 100;

/**
 * Opens a bundle and its packages. `folder`: a real path. `documents`: the documents of the bundle itself. The first
 * scope of the result is the bundle's own, and each folder occurs once.
 */
export async function openScopes(folder: string, documents: readonly SourceDocument[]) {
  const scanner = openScanner();
  try {
    return await openAll(folder, documents, scanner);
  } finally {
    await scanner.end();
  }
}

async function openAll(folder: string, documents: readonly SourceDocument[], scanner: Scanner) {
  const findings: Finding[] = [];
  const scopes = new Map([[folder, await openScope({ folder }, documents, scanner, findings)]]);
  // The loop adds to the map while iterating it, because packages refer to packages.
  for (const scope of scopes.values()) {
    for (const [name, { finding, isNamed }] of packagesOf(scope)) {
      const found = findBundlePackage(scope.folder, name);
      if (found === undefined || !existsSync(join(found.folder, BUNDLE_FILE))) {
        const problem = found === undefined ? 'is not installed' : `has no ${BUNDLE_FILE}`;
        // If no reference names the package, the check of references reports the missing resource.
        if (isNamed) findings.push(finding('E_PACKAGE_MISSING', problem));
        continue;
      }
      let target = scopes.get(found.folder);
      if (target === undefined) {
        if (scopes.size > MOST_PACKAGES) {
          findings.push(
            finding('E_BUNDLE_LIMIT', `is one too many: a bundle may use at most ${MOST_PACKAGES} packages`),
          );
          continue;
        }
        const contents = await readFolder(found.folder, relative(folder, found.path));
        findings.push(...contents.findings);
        target = await openScope({ folder: found.folder, package: name }, contents.documents, scanner, findings);
        scopes.set(found.folder, target);
      }
      scope.packages.set(name, target);
    }
  }
  return { scopes: [...scopes.values()], findings };
}

async function openScope(
  home: Pick<Scope, 'folder' | 'package'>,
  documents: readonly SourceDocument[],
  scanner: Scanner,
  findings: Finding[],
) {
  const { declared, unknown } = readIdentities(documents);
  const loneAgent = home.package === undefined ? findLoneAgent({ declared, unknown }) : undefined;
  if (loneAgent !== undefined) declared.add(`Swarm/${loneAgent}`);
  const resources: LoadedResource[] = [];
  const broken: ReferringResource[] = [];
  let isIncomplete = false;
  for (const document of documents) {
    const identity = readIdentity(document);
    if (document.isBroken || identity === undefined) isIncomplete = true;
    if (document.isUnreadable) continue;
    const { resource, issues, isRepaired = false } = parseResource(document.value);
    if (isRepaired) isIncomplete = true;
    for (const { code, path, part, message, suggestion } of issues) {
      findings.push(errorIn({ document, identity }, path, code, message, suggestion, part));
    }
    if (resource === undefined) {
      broken.push({ identity, document, references: referencesIn(document) });
      await inspectBroken({ ...home, document, identity }, scanner, findings);
      continue;
    }
    const { kind, metadata } = resource;
    // Safe: `kind` is the kind of this resource.
    const plain = {
      ...home,
      kind,
      name: metadata.name,
      identity: `${kind}/${metadata.name}`,
      resource,
      document,
    } as LoadedResource;
    const loaded = await inspectFiles(plain, scanner, findings);
    resources.push(loaded);
    if (loaded.kind !== 'Agent') continue;
    const model = impliedModel(loaded);
    if (model === undefined) continue;
    declared.add(model.identity);
    resources.push(await inspectFiles(model, scanner, findings));
  }
  const agent = resources.find((each) => each.kind === 'Agent');
  if (agent !== undefined && agent.name === loneAgent) resources.push(impliedSwarm(agent));
  // If a name is declared twice, the first resource is used. The check of names reports the second.
  const byIdentity = new Map(resources.toReversed().map((loaded) => [loaded.identity, loaded]));
  const packages = new Map<string, Scope>();
  return { ...home, resources, broken, byIdentity, declared, isIncomplete, unknown, packages };
}

function referencesIn({ value }: SourceDocument): ReferenceUse[] {
  const kind = isPlainObject(value) ? kindOf(value) : undefined;
  return kind === undefined || !isPlainObject(value) ? [] : findReferences(kind, value.spec);
}

interface PackageUse {
  /** False if the reference leads to the base library without naming it. */
  readonly isNamed: boolean;
  /** Makes a finding at the reference. */
  readonly finding: (code: ErrorCode, problem: string) => Finding;
}

/**
 * Lists each package that the scope refers to, with the first reference that names the package. Invalid package names
 * are left out; the check of references reports them.
 */
function packagesOf(scope: Scope): ReadonlyMap<string, PackageUse> {
  const uses = new Map<string, PackageUse>();
  for (const referring of listReferring(scope)) {
    for (const { written, path } of referring.references) {
      const reference = parseReference(written);
      if (reference === undefined || meansAgentTools(scope, written)) continue;
      const name = packageOf(scope, reference);
      if (name === undefined || !packageNamePattern.test(name)) continue;
      const isNamed = reference.package !== undefined;
      if (uses.has(name) && (!isNamed || uses.get(name)?.isNamed === true)) continue;
      const place = isNamed ? [...path, 'package'] : path;
      uses.set(name, {
        isNamed,
        finding: (code, problem) => errorIn(referring, place, code, `The package "${name}" ${problem}.`),
      });
    }
  }
  return uses;
}
