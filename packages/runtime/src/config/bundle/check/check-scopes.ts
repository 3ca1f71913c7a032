/** Runs all checks that need the whole bundle. */
import type { Bundle, Scope } from '../bundle.ts';
import type { Finding } from '../bundle-problem.ts';
import type { Environment } from '../../variable-name.ts';
import { checkAgents } from './check-agents.ts';
import { checkConfigs } from './check-configs.ts';
import { checkConnections } from './check-connections.ts';
import { checkExposure } from './check-exposure.ts';
import { checkInnermost } from './check-innermost.ts';
import { checkModels } from './check-models.ts';
import { checkNames } from './check-names.ts';
import { checkPackages } from './check-packages.ts';
import { checkReferences } from './check-references.ts';
import { checkSwarms } from './check-swarms.ts';
import { checkTools } from './check-tools.ts';
import { checkValues } from './check-values.ts';

/** The maximum number of problems per check; a longer list is not shown anyway. */
export const MOST_PROBLEMS = 500;

const checks = [
  checkNames,
  checkReferences,
  checkModels,
  checkAgents,
  checkSwarms,
  checkInnermost,
  checkConnections,
  checkExposure,
  checkPackages,
];

export async function checkScopes(
  scopes: readonly Scope[],
  environment: Environment,
  environmentFile: Bundle['environmentFile'],
): Promise<Finding[]> {
  const findings = scopes.flatMap((scope) => checks.flatMap((check) => [...takeFirst(check(scope))]));
  for (const scope of scopes) findings.push(...checkTools(scope));
  findings.push(...(await checkConfigs(scopes)));
  findings.push(...takeFirst(checkValues(scopes, environment, environmentFile)));
  return findings;
}

/**
 * Returns one problem more than the maximum, so that the list shows that there are more. Node 20 has no `take` for
 * iterators.
 */
function* takeFirst(findings: Iterable<Finding>): Generator<Finding> {
  let left = MOST_PROBLEMS + 1;
  for (const finding of findings) {
    yield finding;
    left -= 1;
    if (left === 0) return;
  }
}
