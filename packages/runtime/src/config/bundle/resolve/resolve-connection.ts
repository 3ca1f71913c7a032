/** Resolves a Connection resource to the plan of its process. */
import { defined } from '../../../json/defined.ts';
import type { IngressRule } from '../../ingress-rule.ts';
import type { ConnectionPlan } from '../../swarm-plan.ts';
import type { LoadedResourceOf, Scope } from '../bundle.ts';
import { findResource } from '../find-resource.ts';
import { parseReference } from '../references.ts';
import { rulesOf } from '../swarm-of.ts';
import type { ValueReader } from './value-reader.ts';

/** Returns `undefined` when the connector does not exist, which cannot happen in a valid bundle. */
export function resolveConnection(
  scope: Scope,
  loaded: LoadedResourceOf<'Connection'>,
  values: ValueReader,
): ConnectionPlan | undefined {
  const { name, identity, resource } = loaded;
  const { connectorRef, config = {}, secrets = {}, environment, placement, answersQuestions } = resource.spec;
  const connector = findResource(scope, 'Connector', connectorRef)?.loaded;
  if (connector === undefined) return undefined;
  const { entry, events, configSchema } = connector.resource.spec;
  return defined({
    connection: name,
    connector: connector.name,
    root: connector.folder,
    entry,
    digest: connector.digest,
    events: events?.map((event) => (typeof event === 'string' ? event : event.name)),
    config: values.config(config, {}, identity),
    configSchema,
    secrets: values.readEach(secrets, identity),
    environment: environment && values.readEach(environment, identity),
    // This line must come after all lines that look up values, because each value found is added to `values.secrets`.
    masked: [...values.secrets],
    rules: rulesOf(loaded).map(toRule),
    placement,
    answersQuestions,
  });
}

function toRule({ match, route: { agentRef, ...route } }: ReturnType<typeof rulesOf>[number]): IngressRule {
  const name = agentRef === undefined ? undefined : parseReference(agentRef)?.name;
  return defined({
    match: match && defined(match),
    route: defined({ ...route, agentRef: name === undefined ? undefined : `Agent/${name}` }),
  });
}
