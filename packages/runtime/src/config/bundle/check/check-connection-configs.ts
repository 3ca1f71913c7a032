/** Checks the config of every Connection against the schema that its Connector declares. */
import type { LoadedResourceOf, Scope } from '../bundle.ts';
import { errorAt, type Finding } from '../bundle-problem.ts';
import { findResource, resourcesOf } from '../find-resource.ts';
import { type CompileCheck, findConfigProblems, readConfigSchema, toPath } from './config-schema.ts';

export async function checkConnectionConfigs(scopes: readonly Scope[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  const checks = new Map<LoadedResourceOf<'Connector'>, CompileCheck>();
  for (const loaded of scopes.flatMap((scope) => resourcesOf(scope, 'Connector'))) {
    const found = readConfigSchema(loaded, 'E_CONNECTOR_CONFIG');
    if (typeof found === 'function') checks.set(loaded, found);
    else if (found !== undefined) findings.push(found);
  }
  for (const scope of scopes) {
    for (const { resource, document, identity } of resourcesOf(scope, 'Connection')) {
      const { connectorRef, config = {} } = resource.spec;
      const connector = findResource(scope, 'Connector', connectorRef)?.loaded;
      const check = connector && (await checks.get(connector)?.());
      if (connector === undefined || check === undefined) continue;
      for (const { path, message } of findConfigProblems(check, config)) {
        const place = document.placeOf(['spec', 'config', ...toPath(config, path)]);
        const text = `The config does not fit ${connector.identity}: ${message}.`;
        findings.push(errorAt(place, 'E_CONNECTOR_CONFIG', text, { resource: identity }));
      }
    }
  }
  return findings;
}
